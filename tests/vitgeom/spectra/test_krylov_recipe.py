from __future__ import annotations

import pytest
import torch

from tests.oracles.dense_geometry import dense_geometry
from tests.support.counting_operator import CountingOperator
from tests.support.matrices import planted, with_singular_values
from vitgeom.linop import DenseOperator
from vitgeom.spectra.krylov_recipe import krylov_sketch


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize("name", ["slow", "fast", "exponential"])
def test_figures_are_near_the_dense_ones(name: str) -> None:
    matrix = with_singular_values(planted(150)[name], rows=150, columns=240)
    found = krylov_sketch(DenseOperator(matrix), rank=6, budget=120, num_tokens=12, generator=generator())
    oracle = dense_geometry(matrix, num_tokens=12, rank=6)
    assert found.sigma_R.tolist() == pytest.approx(oracle.sigma[:6].tolist(), rel=5e-3)
    assert found.norm.low <= float((oracle.sigma**2).sum()) <= found.norm.high
    norms = torch.tensor(oracle.block_norms, dtype=torch.float64) ** 2
    assert bool(((found.norms.squared_T - norms).abs() < 5 * found.norms.stderr_T).all())


def test_the_budget_is_a_limit() -> None:
    operator = CountingOperator(with_singular_values(planted(100)["slow"], rows=100, columns=120))
    found = krylov_sketch(operator, rank=6, budget=70, num_tokens=12, generator=generator())
    assert operator.jvp + operator.vjp == found.products.total == 70
    assert (found.products.jvp, found.products.vjp) == (operator.jvp, operator.vjp)


def test_tokens_sum_to_the_norm_when_nothing_is_outside() -> None:
    matrix = with_singular_values(torch.tensor([5.0, 3, 1]), rows=50, columns=40)
    found = krylov_sketch(DenseOperator(matrix), rank=6, budget=70, num_tokens=8, generator=generator())
    assert found.exact
    assert found.sigma_R.tolist() == pytest.approx([5.0, 3.0, 1.0])
    assert float(found.norms.squared_T.sum()) == pytest.approx(35.0)
