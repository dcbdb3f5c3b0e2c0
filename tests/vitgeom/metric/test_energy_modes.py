from __future__ import annotations

import pytest
import torch

from tests.oracles.modes_by_hand import modes_by_hand
from vitgeom.metric.energy_modes import separated_modes


def modes(*sigma: float, rank: int | None = None, found: int | None = None) -> list[bool]:
    counted = None if found is None else torch.tensor([found])
    return separated_modes(torch.tensor([sigma]), rank=rank or len(sigma), num_found=counted)[0].tolist()


def test_both_of_a_near_degenerate_pair_are_left_out() -> None:
    assert modes(4.0, 2.0, 1.96, 1.0) == [True, False, False, True]
    assert modes(4.0, 4.0, 1.0) == [False, False, True]
    assert modes(1.06, 1.0) == [True, True]
    assert modes(1.04, 1.0) == [False, False]


def test_the_last_mode_is_held_against_a_further_one_if_there_is_one() -> None:
    assert modes(4.0, 2.0, 1.0, rank=3) == [True, True, True]
    assert modes(4.0, 2.0, 1.0, 0.99, rank=3) == [True, True, False]
    assert modes(4.0, 2.0, 1.0, 0.99, rank=3, found=3) == [True, True, True]


def test_modes_without_energy_are_left_out() -> None:
    assert modes(2.0, 0.0, 0.0) == [True, False, False]
    assert modes(2.0, 1.0, 1.0, found=2) == [True, True, False]
    assert modes(0.0, 0.0) == [False, False]
    assert modes(3.0, found=0) == [False]
    assert modes(5.0) == [True]


@pytest.mark.parametrize("seed", range(20))
def test_it_agrees_with_going_through_the_pairs(seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    steps = 1 + 0.15 * torch.rand(8, generator=generator)
    sigma = steps.cumprod(dim=0).flip(0)
    sigma[6:] *= torch.rand(2, generator=generator).round()
    sigma = sigma.sort(descending=True).values
    found, rank = int(torch.randint(9, (), generator=generator)), 1 + seed % 8
    assert modes(*sigma.tolist(), rank=rank, found=found) == modes_by_hand(sigma.tolist(), found=found, rank=rank)  # fmt: skip
