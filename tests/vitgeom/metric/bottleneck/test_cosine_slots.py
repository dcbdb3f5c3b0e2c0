from __future__ import annotations

import math

import pytest
import torch

from vitgeom.metric.bottleneck.cosine_slots import cosine_bank, slots_of, tokens_of


def bank(grid: tuple[int, int], waves: int) -> torch.Tensor:
    return cosine_bank(grid, waves=waves, dtype=torch.float64, device=torch.device("cpu"))


def drawn(*shape: int) -> torch.Tensor:
    return torch.randn(shape, dtype=torch.float64, generator=torch.Generator().manual_seed(0))


def test_each_function_is_a_product_of_cosines():
    found = bank((2, 3), 2).reshape(2, 3, 2, 2)
    for row, column in ((0, 0), (1, 2), (0, 1)):
        y, x = (row + 0.5) / 2, (column + 0.5) / 3
        wanted = 2 * math.cos(math.pi * y) * math.cos(math.pi * x)
        assert float(found[row, column, 1, 1]) == pytest.approx(wanted)
        assert float(found[row, column, 0, 0]) == 1


@pytest.mark.parametrize(("grid", "waves"), [((8, 8), 8), ((16, 9), 8), ((3, 2), 4), ((1, 1), 3)])
def test_functions_are_orthonormal_over_any_grid_and_those_too_fine_for_it_are_zero(grid, waves):
    found = bank(grid, waves)
    gram = found.mT @ found / len(found)
    there = [float(row < grid[0] and column < grid[1]) for row in range(waves) for column in range(waves)]
    torch.testing.assert_close(gram, torch.diag(torch.tensor(there, dtype=torch.float64)))


@pytest.mark.parametrize("prefix", [0, 1, 5])
def test_a_grid_as_fine_as_the_waves_is_taken_apart_and_put_together(prefix):
    tokens, functions = drawn(2, prefix + 12, 5), bank((4, 3), 4)
    slots = slots_of(tokens, functions)
    assert slots.shape == (2, prefix + 16, 5)
    torch.testing.assert_close(slots[:, :prefix], tokens[:, :prefix])
    torch.testing.assert_close(tokens_of(slots, functions), tokens)


def test_a_finer_grid_is_seen_smoothed_and_keeps_its_mean():
    tokens, functions = drawn(1, 64, 3), bank((8, 8), 2)
    smooth = tokens_of(slots_of(tokens, functions), functions)
    torch.testing.assert_close(smooth.mean(1), tokens.mean(1))
    torch.testing.assert_close(tokens_of(slots_of(smooth, functions), functions), smooth)
    assert float(smooth.var()) < float(tokens.var())
