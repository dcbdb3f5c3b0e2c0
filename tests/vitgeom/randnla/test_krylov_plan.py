from __future__ import annotations

import pytest

from vitgeom.errors import InvalidInput
from vitgeom.randnla.krylov_plan import FEWEST_PROBES, krylov_plan, least_budget


@pytest.mark.parametrize("budget", [70, 110, 200, 1000])
@pytest.mark.parametrize("rank", [1, 5, 20])
def test_the_parts_make_the_budget_and_suffice_for_the_rank(budget: int, rank: int) -> None:
    plan = krylov_plan(budget, rank=rank)
    assert plan.basis_products + plan.probes == budget
    assert plan.probes >= FEWEST_PROBES
    assert plan.basis_products >= 3 * rank
    assert 1 <= plan.width <= max(rank, plan.basis_products // 2)


def test_the_least_budget_is_enough_and_one_less_is_refused() -> None:
    assert krylov_plan(least_budget(20), rank=20).basis_products == 60
    with pytest.raises(InvalidInput, match="budget must be >= 68 products for rank 20"):
        krylov_plan(67, rank=20)


def test_a_given_width_is_taken() -> None:
    assert krylov_plan(200, rank=20, width=10).width == 10
