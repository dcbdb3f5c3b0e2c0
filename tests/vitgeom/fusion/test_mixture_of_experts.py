from __future__ import annotations

import numpy as np
import torch

from tests.support.fusion_data import TEST, evidence, part
from vitgeom.fusion.mixture_of_experts import MixtureOfExpertsClassifier
from vitgeom.fusion.probability_average import ProbabilityAverageClassifier


def test_it_starts_as_the_uniform_probability_average():
    x, _ = part(TEST)
    start = MixtureOfExpertsClassifier(max_epochs=1, learning_rate=1e-30).fit_evidence(evidence())
    average = ProbabilityAverageClassifier().fit_evidence(evidence())
    np.testing.assert_allclose(start.predict_log_proba(x), average.predict_log_proba(x), atol=1e-6)


def test_it_is_the_mixture_written_out():
    g = torch.Generator().manual_seed(0)
    raw, scores = torch.randn(6, 3, generator=g), torch.randn(6, 3, 4, generator=g)
    expected = (torch.softmax(raw, dim=1)[..., None] * torch.softmax(scores, dim=2)).sum(dim=1)
    torch.testing.assert_close(MixtureOfExpertsClassifier()._gated(raw, scores).exp(), expected)
