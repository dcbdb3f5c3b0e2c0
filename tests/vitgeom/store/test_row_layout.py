"""What all layouts share; the rest is tested with the layouts of features and of targets."""

from __future__ import annotations

import pytest

from tests.support.target_stores import SHAPE
from vitgeom.errors import InvalidInput
from vitgeom.store.row_layout import RowLayout, at_least_one, checked_rows
from vitgeom.store.target_layout import TargetLayout

ROWS = {"splits": {"b": 3, "a": 2}, "storage_dtype": "float32", "rows_per_range": 2, "sample_id_width": 9}


def test_splits_are_sorted_by_name() -> None:
    assert checked_rows(**ROWS)["splits"] == (("a", 2), ("b", 3))


@pytest.mark.parametrize("name", ["", "-a", "a/b", "a" * 65])
def test_a_split_whose_name_is_no_path_is_refused(name: str) -> None:
    with pytest.raises(InvalidInput, match="split name"):
        checked_rows(**{**ROWS, "splits": {name: 3}})


def test_it_is_no_layout_by_itself() -> None:
    with pytest.raises(TypeError, match="abstract"):
        RowLayout(**checked_rows(**ROWS))


def test_an_unknown_split_is_refused_with_those_that_are_there() -> None:
    layout = TargetLayout.checked(splits={"train": 4}, storage_dtype="float32", **SHAPE)
    with pytest.raises(InvalidInput, match="split 'test' is not in this store; it holds train"):
        layout.rows("test")


def test_one_is_enough_and_nothing_is_not() -> None:
    at_least_one("n", 1)
    with pytest.raises(InvalidInput, match="n must be a whole number >= 1, got 0"):
        at_least_one("n", 0)
