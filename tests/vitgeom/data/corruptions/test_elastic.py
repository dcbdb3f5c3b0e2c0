from __future__ import annotations

import numpy as np
import pytest

from vitgeom.data.corruptions.elastic import elastic_transform


def generator() -> np.random.Generator:
    return np.random.default_rng(4)


def ramp(height: int, width: int) -> np.ndarray:
    """A picture whose channels are the row, the column, and nothing."""
    rows, columns = np.mgrid[:height, :width].astype(float)
    return np.stack([rows, columns, 0 * rows], axis=2)


def test_pixels_move_as_far_as_was_asked_and_neighbours_go_along():
    side = 120
    moved = elastic_transform(ramp(side, side), shift=0.01, generator=generator()) - ramp(side, side)
    inside = moved[10:-10, 10:-10, :2]
    assert np.sqrt(np.mean(inside**2)) == pytest.approx(0.01 * side, rel=0.1)
    assert np.abs(np.diff(inside, axis=0)).max() < 0.01 * side
    assert not moved[..., 2].any()


def test_no_shift_changes_nothing_and_border_pixels_come_from_inside():
    picture = np.random.default_rng(0).uniform(size=(20, 30, 3))
    np.testing.assert_allclose(elastic_transform(picture, shift=0.0, generator=generator()), picture)
    strong = elastic_transform(picture, shift=0.5, generator=generator())
    assert picture.min() <= strong.min() <= strong.max() <= picture.max()
