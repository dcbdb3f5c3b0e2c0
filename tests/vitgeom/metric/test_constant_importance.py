from __future__ import annotations

from itertools import permutations

import pytest
import torch
from torch import Tensor

from vitgeom.errors import InvalidInput
from vitgeom.metric import constant_importance, rank_correlation
from vitgeom.seeding import generator_for


def importance(count: int = 7) -> Tensor:
    drawn = torch.randn(count, 5, generator=generator_for(0, "importance"))
    return (drawn + torch.tensor([1.0, 0.5, 0.0, -0.5, 0.0])).exp()


def mean_rho(order: Tensor, wanted: Tensor) -> float:
    return rank_correlation(order.expand(len(wanted), -1).double(), wanted.double()).mean


@pytest.mark.parametrize("size", [1, 3, 7])
def test_no_fixed_order_agrees_better_with_the_images(size: int) -> None:
    wanted = importance()
    found = constant_importance({"importance": part} for part in wanted.split(size))
    best = max(mean_rho(torch.tensor(order), wanted) for order in permutations(range(5)))
    assert mean_rho(found, wanted) >= best - 1e-12


def test_the_token_that_always_matters_most_has_one() -> None:
    wanted = torch.tensor([[9.0, 1.0, 2.0, 3.0], [8.0, 3.0, 1.0, 2.0]])
    found = constant_importance([{"importance": wanted}])
    assert found.tolist() == pytest.approx([1.0, 0.5, 0.375, 0.625])


def test_images_without_an_order_count_for_nothing() -> None:
    wanted = importance()
    flat = torch.cat([wanted, torch.zeros(2, 5)])
    assert torch.equal(constant_importance([{"importance": flat}]), constant_importance([{"importance": wanted}]))  # fmt: skip
    with pytest.raises(InvalidInput, match="at least one image whose tokens differ in importance"):
        constant_importance([{"importance": torch.ones(2, 5)}])
