from __future__ import annotations

import pytest
import torch

from tests.support.counting_operator import CountingOperator
from tests.support.matrices import planted, with_singular_values
from vitgeom.errors import InvalidInput
from vitgeom.linop import DenseOperator
from vitgeom.randnla.block_krylov import block_krylov


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("name", ["slow", "fast", "exponential", "step"])
def test_top_values_and_norm_are_those_of_the_matrix(name: str, dtype: torch.dtype) -> None:
    sigma = planted(200)[name]
    matrix = with_singular_values(sigma, rows=220, columns=300).to(dtype)
    found = block_krylov(DenseOperator(matrix), rank=5, budget=100, generator=generator())
    assert torch.allclose(found.triplets.sigma[:5], sigma[:5], rtol=2e-2)
    total = float((sigma**2).sum())
    assert abs(found.probes.norm.value - total) <= 5 * found.probes.norm.stderr + 1e-5 * total


def test_the_budget_is_spent_and_never_exceeded() -> None:
    operator = CountingOperator(with_singular_values(planted(60)["slow"], rows=70, columns=80))
    found = block_krylov(operator, rank=5, budget=77, generator=generator())
    assert operator.jvp + operator.vjp == found.products.total == 77


def test_a_small_operator_is_exhausted_and_costs_less() -> None:
    operator = CountingOperator(torch.randn(4, 50, generator=generator()))
    found = block_krylov(operator, rank=20, budget=200, generator=generator())
    assert found.basis.exhausted
    assert operator.jvp + operator.vjp == found.products.total <= 8
    assert found.triplets.right_NR.shape == (50, 4)


def test_the_same_seed_gives_the_same_result() -> None:
    operator = DenseOperator(with_singular_values(planted(60)["slow"], rows=70, columns=80))
    one, two = (block_krylov(operator, rank=5, budget=60, generator=generator(3)) for _ in range(2))
    assert torch.equal(one.triplets.right_NR, two.triplets.right_NR)
    assert one.probes.norm == two.probes.norm


def test_a_budget_below_the_rank_is_refused() -> None:
    operator = DenseOperator(torch.eye(60))
    with pytest.raises(InvalidInput, match="budget must be >= 68 products for rank 20"):
        block_krylov(operator, rank=20, budget=40, generator=generator())
