from __future__ import annotations

from tests.support.fusion_data import NUM_LAYERS, TEST, evidence, part
from vitgeom.fusion.all_layer_concat import AllLayerConcatClassifier


def test_every_layer_has_a_say():
    x, _ = part(TEST)
    fitted = AllLayerConcatClassifier().fit_evidence(evidence())
    assert fitted.maps_.layers == tuple(range(NUM_LAYERS))
    before = fitted.predict_log_proba(x)
    for layer in range(NUM_LAYERS):
        other = x.clone()
        other[:, layer] = 0
        assert abs(fitted.predict_log_proba(other) - before).max() > 1e-3
