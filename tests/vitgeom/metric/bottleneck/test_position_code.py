from __future__ import annotations

import pytest
import torch

from vitgeom.metric.bottleneck.position_code import patch_places, position_code, spread_places


def places(grid: tuple[int, int]) -> torch.Tensor:
    return patch_places(grid, dtype=torch.float64, device=torch.device("cpu"))


def test_patches_are_numbered_row_by_row_at_their_centres():
    wanted = [[0.25, 1 / 6], [0.25, 0.5], [0.25, 5 / 6], [0.75, 1 / 6], [0.75, 0.5], [0.75, 5 / 6]]
    torch.testing.assert_close(places((2, 3)), torch.tensor(wanted, dtype=torch.float64))


def test_a_place_has_one_code_whatever_the_grid():
    coarse, fine = (position_code(places((side, side)), length=16) for side in (3, 9))
    torch.testing.assert_close(coarse[4], fine[40])  # the centre of the picture


@pytest.mark.parametrize("grid", [(1, 1), (8, 8), (16, 16), (3, 20)])
def test_all_patches_of_a_grid_are_told_apart(grid):
    code = position_code(places(grid), length=64)
    apart = torch.cdist(code, code) + 10 * torch.eye(len(code), dtype=torch.float64)
    assert float(apart.min()) > 0.1
    assert code.shape == (grid[0] * grid[1], 64)
    torch.testing.assert_close(code.square().sum(1), torch.full((len(code),), 32.0, dtype=torch.float64))


@pytest.mark.parametrize("count", [1, 2, 32, 100])
def test_spread_places_cover_the_square(count):
    found = spread_places(count)
    assert found.shape == (count, 2)
    assert 0 <= float(found.min()) <= float(found.max()) < 1
    for number in range(4 if count >= 32 else 0):  # each quarter has its share
        quarter = ((found >= 0.5).long() @ torch.tensor([2, 1])) == number
        assert abs(int(quarter.sum()) - count / 4) <= 0.1 * count
