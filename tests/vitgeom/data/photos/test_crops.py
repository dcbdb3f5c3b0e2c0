from __future__ import annotations

import numpy as np
import pytest

from vitgeom.data.photos.crops import CropPlan, cells, draw_crop, owners
from vitgeom.data.photos.photographs import PHOTOGRAPHS, photograph_size

PLAN = CropPlan()


@pytest.mark.parametrize("size", [(512, 512), (384, 191), (1000, 872), (57, 300), (448, 172)])
def test_cells_cover_every_pixel_once(size):
    width, height = size
    count = np.zeros((height, width), dtype=int)
    for left, top, right, bottom in cells(width, height, plan=PLAN):
        count[top:bottom, left:right] += 1
        assert min(right - left, bottom - top) >= PLAN.smallest_cell
    assert (count == 1).all()


@pytest.mark.parametrize("item", PHOTOGRAPHS, ids=lambda item: item.name)
def test_every_split_owns_some_cells_of_every_photograph_and_none_is_shared(item):
    grid = cells(*photograph_size(item), plan=PLAN)
    owned = owners(item.name, len(grid), plan=PLAN)
    assert sorted(np.concatenate(list(owned.values()))) == list(range(len(grid)))
    assert {split: len(numbers) >= 3 for split, numbers in owned.items()} == {
        "train": True,
        "val": True,
        "test": True,
    }


def test_crops_are_squares_inside_their_cell_at_all_scales():
    cell = (100, 40, 203, 150)
    generator = np.random.default_rng(0)
    crops = np.array([draw_crop(cell, generator=generator, plan=PLAN) for _ in range(2000)])
    sides = crops[:, 2] - crops[:, 0]
    np.testing.assert_array_equal(sides, crops[:, 3] - crops[:, 1])
    assert crops[:, 0].min() == 100
    assert crops[:, 2].max() == 203
    assert crops[:, 1].min() == 40
    assert crops[:, 3].max() == 150
    assert sides.min() <= 53
    assert sides.max() >= 102
    # The side is log-uniform on 0.5..1 of the shorter side of the cell: its mean log is log(0.5) / 2.
    logs = np.log(sides / 103)
    assert logs.mean() == pytest.approx(np.log(0.5) / 2, abs=5 * 0.2 / np.sqrt(2000) + 0.005)


def test_the_smallest_cell_has_one_crop_of_its_full_size():
    plan = CropPlan(smallest_crop=1.0)
    assert draw_crop((0, 0, 56, 56), generator=np.random.default_rng(0), plan=plan) == (0, 0, 56, 56)
