from __future__ import annotations

import numpy as np
import torch

from tests.support.fusion_data import TEST, evidence, part
from vitgeom.fusion.logit_average import LogitAverageClassifier
from vitgeom.fusion.neural_logit_controller import NeuralLogitControllerClassifier


def test_it_starts_as_the_uniform_logit_average():
    x, _ = part(TEST)
    start = NeuralLogitControllerClassifier(max_epochs=1, learning_rate=1e-30).fit_evidence(evidence())
    average = LogitAverageClassifier().fit_evidence(evidence())
    np.testing.assert_allclose(start.predict_log_proba(x), average.predict_log_proba(x), atol=1e-6)


def test_weights_are_positive_and_bounded_whatever_the_net_says():
    made = NeuralLogitControllerClassifier()
    scores = torch.tensor([[[1.0, 0.0], [0.0, 1.0]]], dtype=torch.float64)
    for value in (-1e6, 0.0, 1e6):
        raw = torch.tensor([[value, 0.0]], dtype=torch.float64)
        weight = float(torch.exp(torch.tensor(4.0 * np.sign(value))))
        expected = torch.log_softmax(torch.tensor([[weight / 2, 0.5]], dtype=torch.float64), dim=1)
        torch.testing.assert_close(made._gated(raw, scores), expected)
