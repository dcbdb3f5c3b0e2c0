from __future__ import annotations

import torch

from tests.support.fusion_data import NUM_LAYERS, TEST, evidence, part
from vitgeom.fusion.probability_average import ProbabilityAverageClassifier
from vitgeom.fusion.probe_outcomes import probe_logits
from vitgeom.fusion.temperature import layer_temperatures
from vitgeom.probes import TensorLayers


def test_it_is_the_average_written_out():
    of, (x, _) = evidence(), part(TEST)
    temperature = layer_temperatures(of, range(NUM_LAYERS))
    total = torch.zeros(len(x), 4, dtype=torch.float64)
    for layer in range(NUM_LAYERS):
        logits = probe_logits(of.probe(layer), TensorLayers(x), layer).double()
        total += torch.softmax(logits / temperature[layer], dim=1) / NUM_LAYERS
    fitted = ProbabilityAverageClassifier().fit_evidence(of)
    torch.testing.assert_close(torch.from_numpy(fitted.predict_proba(x)), total.float(), atol=1e-6, rtol=1e-5)
