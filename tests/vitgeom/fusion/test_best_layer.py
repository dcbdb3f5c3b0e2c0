from __future__ import annotations

import torch

from tests.support.fusion_data import NUM_LAYERS, TRAIN, VAL, evidence, part
from vitgeom.fusion import gather_evidence
from vitgeom.fusion.best_layer import BestLayerClassifier, best_layer
from vitgeom.probes import fit_probes


def test_it_is_the_layer_that_the_probes_call_best():
    (x, y), (x_val, y_val) = part(TRAIN), part(VAL)
    assert best_layer(evidence()) == fit_probes(x, y, X_val=x_val, y_val=y_val).best_layer


def test_validation_decides_and_not_the_place():
    (x, y), (x_val, y_val) = part(TRAIN), part(VAL)
    turned = [NUM_LAYERS - 1 - layer for layer in range(NUM_LAYERS)]
    found = best_layer(gather_evidence(x[:, turned], y, x_val[:, turned], y_val))
    assert turned[found] == best_layer(evidence())


def test_ties_go_to_the_lower_loss_and_then_to_the_first():
    x, y = part(TRAIN)
    same = torch.stack([x[:, 1], x[:, 1]], dim=1)
    fitted = BestLayerClassifier().fit(same[:150], y[:150], same[150:], y[150:])
    assert fitted.maps_.layers == (0,)
