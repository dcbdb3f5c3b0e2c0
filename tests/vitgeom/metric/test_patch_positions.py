from __future__ import annotations

import math

import pytest
import torch

from vitgeom.errors import InvalidInput
from vitgeom.metric.patch_positions import FREQUENCIES, NUM_WAVES, patch_positions, squarest


def test_each_wave_is_the_sine_or_cosine_of_the_place() -> None:
    waves = patch_positions(6, grid=(2, 3)).reshape(2, 3, NUM_WAVES)
    for row in range(2):
        for column in range(3):
            y, x = (row + 0.5) / 2 - 0.5, (column + 0.5) / 3 - 0.5
            wanted = []
            for place in (y, x):
                for wave in (math.sin, math.cos):
                    wanted += [wave(math.pi * k * place) for k in range(1, FREQUENCIES + 1)]
            assert waves[row, column].tolist() == pytest.approx(wanted, abs=1e-6)


def test_the_same_place_has_the_same_waves_at_every_resolution() -> None:
    coarse = patch_positions(9, grid=(3, 3)).reshape(3, 3, -1)
    fine = patch_positions(81, grid=(9, 9)).reshape(9, 9, -1)
    torch.testing.assert_close(coarse, fine[1::3, 1::3], rtol=0, atol=1e-6)


def test_all_places_differ() -> None:
    waves = patch_positions(64)
    assert (torch.cdist(waves, waves) + 9 * torch.eye(64)).min() > 0.1


def test_without_a_grid_it_is_the_one_nearest_to_a_square() -> None:
    assert [squarest(n) for n in (1, 2, 12, 64, 196, 13)] == [
        (1, 1),
        (1, 2),
        (3, 4),
        (8, 8),
        (14, 14),
        (1, 13),
    ]
    assert torch.equal(patch_positions(12), patch_positions(12, grid=(3, 4)))


def test_a_grid_of_other_patches_is_refused() -> None:
    with pytest.raises(InvalidInput, match="grid must hold the 12 patches, got 4 x 4"):
        patch_positions(12, grid=(4, 4))
