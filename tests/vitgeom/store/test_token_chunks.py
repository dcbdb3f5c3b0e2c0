from __future__ import annotations

import pytest

from vitgeom.store.token_chunks import TARGET_BYTES, rows_per_chunk

MIB = 2**20


@pytest.mark.parametrize("rows_per_range", [64, 128, 256, 1024])
@pytest.mark.parametrize("row_bytes", [197 * 768 * 2, 197 * 768 * 4, 261 * 384 * 4, 1370 * 1024 * 4])
def test_a_chunk_of_usual_sizes_is_of_four_to_nine_megabytes(rows_per_range: int, row_bytes: int) -> None:
    rows = rows_per_chunk(rows_per_range, row_bytes=row_bytes)
    assert rows_per_range % rows == 0
    assert 4e6 < rows * row_bytes < 9e6


@pytest.mark.parametrize("rows_per_range", range(1, 40))
@pytest.mark.parametrize("row_bytes", [1, MIB // 3, MIB, 2 * MIB, 100 * MIB])
def test_it_is_the_divisor_nearest_to_the_target(rows_per_range: int, row_bytes: int) -> None:
    def ratio(rows: int) -> float:
        size = rows * row_bytes
        return max(size / TARGET_BYTES, TARGET_BYTES / size)

    rows = rows_per_chunk(rows_per_range, row_bytes=row_bytes)
    assert rows_per_range % rows == 0
    assert all(
        ratio(rows) <= ratio(other) for other in range(1, rows_per_range + 1) if rows_per_range % other == 0
    )


def test_small_rows_share_the_chunk_of_their_range_and_huge_ones_stand_alone() -> None:
    assert rows_per_chunk(8, row_bytes=5 * 96 * 4) == 8
    assert rows_per_chunk(64, row_bytes=50 * MIB) == 1
    assert rows_per_chunk(127, row_bytes=6 * MIB) == 1
