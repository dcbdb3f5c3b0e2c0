from __future__ import annotations

import torch

from tests.support.fusion_data import NUM_LAYERS, TEST, evidence, part
from vitgeom.fusion.logit_average import LogitAverageClassifier
from vitgeom.fusion.probe_outcomes import probe_logits
from vitgeom.fusion.temperature import fit_temperatures
from vitgeom.probes import TensorLayers


def test_it_is_the_average_written_out():
    of, (x, _) = evidence(), part(TEST)
    total = torch.zeros(len(x), 4, dtype=torch.float64)
    for layer in range(NUM_LAYERS):
        temperature = fit_temperatures(of.val_logits(layer)[:, None], of.data.val_target)
        total += probe_logits(of.probe(layer), TensorLayers(x), layer) / temperature / NUM_LAYERS
    fitted = LogitAverageClassifier().fit_evidence(of)
    expected = torch.log_softmax(total, dim=1).float()
    torch.testing.assert_close(torch.from_numpy(fitted.predict_log_proba(x)), expected)
    assert len(fitted.summary()["temperature"]) == NUM_LAYERS
