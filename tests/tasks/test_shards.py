"""Aligned ranges and batches: plain arithmetic, checked by counting."""

from __future__ import annotations

import pytest

from tasks.shards import MIN_RANGES, MIN_ROWS, TARGET_CHUNK_BYTES, batches, rows_per_range
from vitgeom.errors import InvalidInput


@pytest.mark.parametrize(("start", "stop", "size"), [(0, 10, 3), (256, 512, 64), (5, 6, 64), (7, 7, 2)])
def test_batches_cover_every_row_once_in_order(start: int, stop: int, size: int) -> None:
    rows = [row for first, last in batches(start, stop, size=size) for row in range(first, last)]
    assert rows == list(range(start, stop))
    assert all(last - first <= size for first, last in batches(start, stop, size=size))


def test_batches_count_from_the_start_of_their_range() -> None:
    shifted = [(first - 100, last - 100) for first, last in batches(100, 110, size=4)]
    assert shifted == list(batches(0, 10, size=4))


def test_large_data_gets_chunks_of_about_the_wanted_size() -> None:
    rows = rows_per_range(1_000_000, width=768, itemsize=4)
    assert rows % MIN_ROWS == 0
    assert 0.9 * TARGET_CHUNK_BYTES <= rows * 768 * 4 <= TARGET_CHUNK_BYTES


def test_small_data_is_cut_into_several_ranges_but_not_into_crumbs() -> None:
    assert rows_per_range(1797, width=96, itemsize=4) == 192
    assert MIN_RANGES <= 1797 / 192
    assert rows_per_range(10, width=96, itemsize=4) == MIN_ROWS


@pytest.mark.parametrize("name", ["num_rows", "width", "itemsize", "target_bytes"])
def test_nothing_below_one_is_accepted(name: str) -> None:
    values = {"num_rows": 10, "width": 4, "itemsize": 4, "target_bytes": 100, name: 0}
    with pytest.raises(InvalidInput, match=f"{name} must be >= 1, got 0"):
        rows_per_range(values.pop("num_rows"), **values)


def test_an_empty_batch_is_refused() -> None:
    with pytest.raises(InvalidInput, match="size must be >= 1 row per batch, got 0"):
        list(batches(0, 4, size=0))
