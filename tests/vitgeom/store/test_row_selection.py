from __future__ import annotations

import numpy as np
import pytest

from vitgeom.errors import InvalidInput
from vitgeom.store.row_selection import selected_rows


def test_none_and_slices_mean_what_python_means() -> None:
    everything = list(range(7))
    assert selected_rows(None, total=7, split="s").tolist() == everything
    for cut in (slice(None), slice(2, 5), slice(-3, None), slice(6, 0, -2), slice(5, 2), slice(0, 99)):
        assert selected_rows(cut, total=7, split="s").tolist() == everything[cut]


@pytest.mark.parametrize("rows", [[], [3], [6, 0, 0, 2], np.array([1, 5], dtype=np.uint8), (2, 1)])
def test_row_numbers_keep_their_order(rows: list[int]) -> None:
    chosen = selected_rows(rows, total=7, split="s")
    assert chosen.dtype == np.int64
    assert chosen.tolist() == list(rows)


def test_rows_that_do_not_exist_are_named() -> None:
    with pytest.raises(InvalidInput, match=r"row 7 does not exist in split 'train': rows are 0\.\.6"):
        selected_rows([0, 7, 9], total=7, split="train")
    with pytest.raises(InvalidInput, match="row -1 does not exist"):
        selected_rows([-1], total=7, split="train")


@pytest.mark.parametrize("rows", [np.array([0.0, 1.0]), np.array([[0, 1]]), np.array([True, False])])
def test_what_are_no_row_numbers_is_refused(rows: np.ndarray) -> None:
    with pytest.raises(InvalidInput, match="rows must be a slice or a list of whole numbers"):
        selected_rows(rows, total=2, split="s")
