from __future__ import annotations

import pytest
import torch

from tests.support.counting_operator import CountingOperator
from tests.support.matrices import planted, with_singular_values
from vitgeom.errors import NumericalFailure
from vitgeom.linop import DenseOperator
from vitgeom.randnla.exact import exact_decomposition, materialise
from vitgeom.randnla.orthonormal import orthogonality_error


@pytest.mark.parametrize("shape", [(12, 30), (30, 12), (1, 9), (9, 1), (7, 7)])
def test_the_matrix_itself_comes_back_from_its_smaller_side(shape: tuple[int, int]) -> None:
    matrix = torch.randn(shape, generator=torch.Generator().manual_seed(0))
    operator = CountingOperator(matrix)
    transposed, spent = materialise(operator, chunk=5)
    assert torch.allclose(transposed, matrix.mT)
    assert spent.total == operator.jvp + operator.vjp == min(shape)
    assert (spent.vjp > 0) == (shape[0] <= shape[1])


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("name", ["flat", "slow", "fast", "exponential", "step"])
@pytest.mark.parametrize("shape", [(40, 90), (90, 40)])
def test_values_vectors_and_column_lengths(name: str, dtype: torch.dtype, shape: tuple[int, int]) -> None:
    sigma = planted(40)[name]
    matrix = with_singular_values(sigma, rows=shape[0], columns=shape[1]).to(dtype)
    found = exact_decomposition(DenseOperator(matrix), rank=6)
    accuracy = 1e-6 if dtype == torch.float32 else 1e-12
    assert torch.allclose(found.sigma, sigma, atol=accuracy, rtol=accuracy)
    assert orthogonality_error(found.right_NR) < accuracy * 10
    images = (matrix.double() @ found.right_NR.double()).norm(dim=0)
    assert torch.allclose(images, sigma[:6], rtol=1e-5)
    assert torch.allclose(found.columns_squared_N, (matrix.double() ** 2).sum(dim=0), rtol=1e-5)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_low_rank_gives_no_vectors_beyond_it(dtype: torch.dtype) -> None:
    matrix = with_singular_values(torch.tensor([5.0, 3, 1]), rows=50, columns=40).to(dtype)
    found = exact_decomposition(DenseOperator(matrix), rank=20)
    assert found.right_NR.shape == (40, 3)


def test_a_zero_operator_has_no_vectors() -> None:
    found = exact_decomposition(DenseOperator(torch.zeros(4, 6)), rank=3)
    assert found.sigma.tolist() == [0.0] * 4
    assert found.right_NR.shape == (6, 0)


def test_a_product_that_is_not_finite_is_named() -> None:
    with pytest.raises(NumericalFailure, match=r"J\^T u \(rmatmat\) .* is not finite"):
        exact_decomposition(CountingOperator(torch.ones(3, 5), poison=0), rank=2)
