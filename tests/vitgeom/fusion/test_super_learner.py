from __future__ import annotations

import numpy as np
import pytest
import torch

from tests.oracles.stacked_layers import convex_weights, held_out_log_probabilities, logistic, standardised
from tests.support.fusion_data import NUM_CLASSES, NUM_LAYERS, TEST, TRAIN, evidence, part
from vitgeom.fusion import gather_evidence
from vitgeom.fusion.last_layer import LastLayerClassifier
from vitgeom.fusion.super_learner import FLOOR, SuperLearnerClassifier, truth_probability


def strengths(of) -> list[float]:
    return [of.settings.l2[of.probe(layer).chosen] for layer in range(NUM_LAYERS)]


def test_it_agrees_with_scikit_learn_and_scipy_on_the_same_folds():
    of = evidence()
    x, y = (one.numpy() for one in part(TRAIN))
    x_test, y_test = (one.numpy() for one in part(TEST))
    held = held_out_log_probabilities(x, y, of.fold.numpy(), l2=strengths(of), num_classes=NUM_CLASSES)
    p = np.maximum(np.exp(held[np.arange(len(y)), :, y]), FLOOR)
    weights = convex_weights(p)
    mixed = np.zeros((len(x_test), NUM_CLASSES))
    for layer, l2 in enumerate(strengths(of)):
        seen = x[:, layer].astype(np.float64)
        model = logistic(standardised(seen, seen), y, l2=l2)
        mixed += weights[layer] * model.predict_proba(standardised(x_test[:, layer], seen))
    fitted = SuperLearnerClassifier().fit_evidence(of)
    np.testing.assert_allclose(fitted.weight_.numpy(), weights, atol=0.02)
    by_hand = (mixed.argmax(axis=1) == y_test).mean()
    assert fitted.score(x_test, y_test) == pytest.approx(by_hand, abs=0.003)
    assert fitted.summary()["gap"] <= 1e-8


def test_with_one_layer_it_is_that_layers_probe():
    x, y = part(TRAIN)
    one = gather_evidence(x[:, -1:], y)
    found, probe = (
        made.fit_evidence(one).predict_log_proba(x[:, -1:])
        for made in (SuperLearnerClassifier(), LastLayerClassifier())
    )
    np.testing.assert_allclose(found, probe, atol=1e-6)


def test_a_class_that_the_other_folds_lack_gets_the_floor_from_every_layer():
    x, y = part(TRAIN)
    y = y.clone()
    y[y == 3] = 0
    y[17] = 3
    p = truth_probability(gather_evidence(x, y, x, y))
    assert p[17].tolist() == [FLOOR] * NUM_LAYERS
    assert bool((p >= FLOOR).all())
    assert torch.isfinite(p.log()).all()
    assert int((p == FLOOR).all(dim=1).sum()) == 1
