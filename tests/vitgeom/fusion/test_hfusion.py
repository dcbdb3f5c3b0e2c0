from __future__ import annotations

import numpy as np
import pytest
import torch

from tests.support.fusion_data import TEST, TRAIN, VAL, part
from vitgeom.errors import InvalidInput
from vitgeom.fusion.hfusion import HFusionClassifier
from vitgeom.fusion.vfusion import VFusionClassifier

QUICK = {"max_epochs": 2, "hidden_dim": 8}


def two(rows: slice) -> list[torch.Tensor]:
    """The last layer stands for one backbone, the first five columns of the one before for another."""
    x, _ = part(rows)
    return [x, x[:, -2, :5].clone()]


def test_over_equal_widths_it_is_vfusion_over_the_last_layers():
    (x, y), (x_val, y_val), (x_test, _) = part(TRAIN), part(VAL), part(TEST)
    fitted = HFusionClassifier(**QUICK).fit([x[:, 2], x[:, 1]], y, [x_val[:, 2], x_val[:, 1]], y_val)
    same = VFusionClassifier(**QUICK).fit(x[:, [2, 1]], y, x_val[:, [2, 1]], y_val)
    np.testing.assert_array_equal(
        fitted.predict_log_proba([x_test[:, 2], x_test[:, 1]]), same.predict_log_proba(x_test[:, [2, 1]])
    )


def test_widths_may_differ_and_every_backbone_has_a_say():
    fitted = HFusionClassifier(**QUICK).fit(two(TRAIN), part(TRAIN)[1], two(VAL), part(VAL)[1])
    assert fitted.widths_ == (8, 5)
    before = fitted.predict_log_proba(two(TEST))
    for number in range(2):
        other = [one.clone() for one in two(TEST)]
        other[number] *= 0
        assert np.abs(fitted.predict_log_proba(other) - before).max() > 1e-3
    assert fitted.transform(two(TEST)).shape[0] == 300


def test_log_probabilities_come_in_blocks_of_all_rows():
    fitted = HFusionClassifier(**QUICK).fit(two(TRAIN), part(TRAIN)[1])
    parts = list(fitted.log_proba_blocks(two(TEST)))
    np.testing.assert_array_equal(np.concatenate(parts), fitted.predict_log_proba(two(TEST)))


def test_seeds_share_their_folds():
    one, other = HFusionClassifier(**QUICK).fit_seeds([0, 1], two(TRAIN), part(TRAIN)[1])
    assert isinstance(one, HFusionClassifier)
    assert (one.seed, other.seed) == (0, 1)
    assert one.predict_proba(two(TEST)).shape == (300, 4)


def test_another_set_of_backbones_is_refused():
    fitted = HFusionClassifier(**QUICK).fit(two(TRAIN), part(TRAIN)[1])
    with pytest.raises(InvalidInput, match="the 2 layers of training, got 3"):
        fitted.predict([*two(TEST), two(TEST)[0]])
    with pytest.raises(InvalidInput, match="training width 8 at layer 0, got 5"):
        fitted.predict(two(TEST)[::-1])
    with pytest.raises(InvalidInput, match="at least 2 backbones, got 1"):
        HFusionClassifier().fit(two(TRAIN)[:1], part(TRAIN)[1])
    with pytest.raises(InvalidInput, match="X_val must be a list"):
        HFusionClassifier().fit(two(TRAIN), part(TRAIN)[1], part(VAL)[0], part(VAL)[1])
