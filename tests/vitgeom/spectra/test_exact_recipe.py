from __future__ import annotations

import pytest
import torch

from tests.oracles.dense_geometry import dense_geometry
from tests.support.counting_operator import CountingOperator
from tests.support.matrices import planted, with_singular_values
from vitgeom.spectra.exact_recipe import exact_sketch


@pytest.mark.parametrize("shape", [(20, 60), (60, 20)])
def test_it_is_the_dense_geometry_at_the_cost_of_the_smaller_side(shape: tuple[int, int]) -> None:
    matrix = with_singular_values(planted(20)["slow"], rows=shape[0], columns=shape[1])
    operator = CountingOperator(matrix)
    found = exact_sketch(operator, rank=6, num_tokens=10)
    oracle = dense_geometry(matrix, num_tokens=10, rank=6)
    assert found.leading.tolist() == pytest.approx((oracle.sigma**2).tolist())
    assert found.norms.squared_T.sqrt().tolist() == pytest.approx(oracle.block_norms)
    assert found.exact
    assert found.converged == 20
    assert operator.jvp + operator.vjp == found.products.total == 20


def test_a_zero_jacobian_has_no_directions() -> None:
    found = exact_sketch(CountingOperator(torch.zeros(4, 6)), rank=2, num_tokens=3)
    assert found.right_NR.shape == (6, 0)
    assert found.norm.value == 0.0
