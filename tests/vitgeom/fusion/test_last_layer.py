from __future__ import annotations

import torch

from tests.support.fusion_data import NUM_LAYERS, TEST, TRAIN, VAL, evidence, part
from vitgeom.fusion.last_layer import LastLayerClassifier
from vitgeom.probes import fit_probes


def test_it_is_the_last_layers_probe():
    (x, y), (x_val, y_val), (x_test, _) = part(TRAIN), part(VAL), part(TEST)
    probes = fit_probes(x, y, X_val=x_val, y_val=y_val)
    fitted = LastLayerClassifier().fit_evidence(evidence())
    expected = torch.log_softmax(probes.logits(x_test)[:, -1], dim=1)
    torch.testing.assert_close(torch.from_numpy(fitted.predict_log_proba(x_test)), expected)
    assert fitted.summary()["layers"] == [NUM_LAYERS - 1]


def test_earlier_layers_have_no_say():
    x, _ = part(TEST)
    fitted = LastLayerClassifier().fit_evidence(evidence())
    other = x.clone()
    other[:, :-1] = 0
    assert (fitted.predict_log_proba(other) == fitted.predict_log_proba(x)).all()
