from __future__ import annotations

import numpy as np
import pytest
import torch

from tests.oracles.stacked_layers import held_out_log_probabilities, logistic, standardised
from tests.support.fusion_data import NUM_CLASSES, NUM_LAYERS, TEST, TRAIN, VAL, evidence, part
from vitgeom.fusion.stacking import LogisticStackingClassifier
from vitgeom.probes import L2_GRID


def by_hand(of) -> tuple[float, float]:
    """Chosen strength and test accuracy."""
    (x, y), (x_val, y_val), (x_test, y_test) = (
        tuple(one.numpy() for one in part(rows)) for rows in (TRAIN, VAL, TEST)
    )
    l2 = [of.settings.l2[of.probe(layer).chosen] for layer in range(NUM_LAYERS)]
    held = held_out_log_probabilities(x, y, of.fold.numpy(), l2=l2, num_classes=NUM_CLASSES)
    seen = [x[:, layer].astype(np.float64) for layer in range(NUM_LAYERS)]
    models = [logistic(standardised(z, z), y, l2=one) for z, one in zip(seen, l2, strict=True)]

    def stacked(rows: np.ndarray) -> np.ndarray:
        """Log probabilities less their mean over classes are logits that sum to 0, as the probes' are."""
        parts = [
            model.predict_log_proba(standardised(rows[:, layer], seen[layer]))
            for layer, model in enumerate(models)
        ]
        return np.concatenate([one - one.mean(axis=1, keepdims=True) for one in parts], axis=1)

    train = (held - held.mean(axis=2, keepdims=True)).reshape(len(x), -1)
    val, test = standardised(stacked(x_val), train), standardised(stacked(x_test), train)
    found = []
    for strength in L2_GRID:
        meta = logistic(standardised(train, train), y, l2=strength)
        loss = -meta.predict_log_proba(val)[np.arange(len(y_val)), y_val].mean()
        found.append((loss, strength, (meta.predict(test) == y_test).mean()))
    return min(found)[1:]


def test_it_agrees_with_scikit_learn_on_the_same_folds():
    of = evidence()
    strength, accuracy = by_hand(of)
    x_test, y_test = part(TEST)
    fitted = LogisticStackingClassifier().fit_evidence(of)
    assert fitted.l2_ == pytest.approx(strength)
    assert fitted.score(x_test, y_test.numpy()) == pytest.approx(accuracy, abs=0.003)


def test_a_strength_that_rules_everything_out_leaves_the_class_frequencies():
    of = evidence()
    fitted = LogisticStackingClassifier().fit_evidence(of)
    fitted.weight_ = torch.zeros_like(fitted.weight_)
    p = fitted.predict_proba(part(TEST)[0])
    assert np.ptp(p, axis=0).max() == pytest.approx(0, abs=1e-7)
    assert (
        fitted.num_parameters() == fitted.maps_.num_parameters + (NUM_LAYERS * NUM_CLASSES + 1) * NUM_CLASSES
    )
