from __future__ import annotations

import pytest

from tasks.target_images import spread_images
from vitgeom.errors import InvalidInput


def test_images_are_the_middles_of_equal_parts() -> None:
    assert spread_images(100, count=4) == (12, 37, 62, 87)
    assert spread_images(8, count=8) == tuple(range(8))


def test_a_small_split_gives_all_that_it_has() -> None:
    assert spread_images(3, count=9) == (0, 1, 2)


@pytest.mark.parametrize("num_rows", [1, 2, 7, 60, 1001])
@pytest.mark.parametrize("count", [1, 3, 8, 60])
def test_images_rise_within_the_split_and_none_is_taken_twice(num_rows: int, count: int) -> None:
    rows = spread_images(num_rows, count=count)
    assert len(rows) == min(count, num_rows)
    assert list(rows) == sorted(set(rows))
    assert rows[0] >= 0
    assert rows[-1] < num_rows


def test_nothing_wanted_is_refused() -> None:
    with pytest.raises(InvalidInput, match="must be >= 1, got 5 and 0"):
        spread_images(5, count=0)
