from __future__ import annotations

import numpy as np
import pytest

from vitgeom.data.splits import stratified_split
from vitgeom.errors import InvalidInput

LABELS = np.repeat(["a", "b", "c"], [50, 11, 7])


def test_rows_are_shared_out_without_loss_or_overlap():
    rows = stratified_split(LABELS, seed=0).rows
    together = np.concatenate(list(rows.values()))
    np.testing.assert_array_equal(np.sort(together), np.arange(len(LABELS)))
    for part in rows.values():
        np.testing.assert_array_equal(part, np.sort(part))
        assert part.dtype == np.int64


@pytest.mark.parametrize("count", range(3, 41))
def test_each_class_is_split_as_near_to_the_fractions_as_whole_rows_allow(count):
    """Oracle: of all ways to give every split a row, take the closest (by largest deviation)."""
    rows = stratified_split(["x"] * count, seed=1).rows
    got = [len(rows[split]) for split in ("train", "val", "test")]
    ideal = np.array([0.6, 0.2, 0.2]) * count
    best = min(
        np.abs(np.array([count - v - t, v, t]) - ideal).max()
        for v in range(1, count)
        for t in range(1, count - v)
    )
    assert np.abs(np.array(got) - ideal).max() == pytest.approx(best, abs=1e-9)


def test_the_seed_decides_and_one_class_does_not_move_another():
    first = stratified_split(LABELS, seed=0).rows
    np.testing.assert_array_equal(first["test"], stratified_split(list(LABELS), seed=0).rows["test"])
    assert not np.array_equal(first["test"], stratified_split(LABELS, seed=1).rows["test"])
    without_c = stratified_split(LABELS[:61], seed=0).rows
    np.testing.assert_array_equal(without_c["val"], first["val"][first["val"] < 61])


def test_small_classes_go_to_train_first_and_singletons_are_listed():
    result = stratified_split(["one", "two", "two", "three", "three", "three"], seed=0)
    assert result.singletons == ("one",)
    assert 0 in result.rows["train"]
    assert [len(result.rows[split]) for split in ("train", "val", "test")] == [3, 2, 1]


def test_no_labels_give_empty_splits():
    rows = stratified_split([], seed=0).rows
    assert all(len(part) == 0 and part.dtype == np.int64 for part in rows.values())


@pytest.mark.parametrize("fractions", [{}, {"train": 0.5, "val": 0.4}, {"train": 1.2, "val": -0.2}])
def test_fractions_that_do_not_share_out_everything_are_refused(fractions):
    with pytest.raises(InvalidInput, match="fractions must be positive and sum to 1"):
        stratified_split(LABELS, seed=0, fractions=fractions)
