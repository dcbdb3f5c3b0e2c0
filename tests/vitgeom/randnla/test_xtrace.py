from __future__ import annotations

import pytest
import torch

from tests.oracles.xtrace_one_by_one import xtrace_one_by_one
from tests.support.counting_operator import CountingOperator
from tests.support.matrices import orthonormal
from vitgeom.errors import InvalidInput
from vitgeom.linop import DenseOperator
from vitgeom.randnla.random_vectors import sphere
from vitgeom.randnla.xtrace import xtrace


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def with_eigenvalues(values: torch.Tensor) -> torch.Tensor:
    q = orthonormal(len(values), len(values), seed=3)
    return (q * values) @ q.mT


def test_it_equals_sketches_made_anew() -> None:
    matrix = with_eigenvalues(torch.arange(1, 41, dtype=torch.float64) ** -1.0)
    matrix[3, 5] += 0.3  # need not be symmetric
    one_by_one = xtrace_one_by_one(matrix, sphere(40, 8, generator=generator(5)))
    operator = CountingOperator(matrix)
    found = xtrace(operator, num_products=16, generator=generator(5))
    assert found.value == pytest.approx(float(one_by_one.mean()), rel=1e-9)
    assert found.stderr == pytest.approx(float(one_by_one.std()) / 8**0.5, rel=1e-9)
    assert found.products.jvp == operator.jvp == 16


def test_it_is_unbiased() -> None:
    values = torch.arange(1, 61, dtype=torch.float64) ** -0.5
    operator = DenseOperator(with_eigenvalues(values))
    errors = torch.tensor(
        [
            xtrace(operator, num_products=12, generator=generator(seed)).value - float(values.sum())
            for seed in range(300)
        ]
    )
    assert abs(float(errors.mean())) < 5 * float(errors.std()) / 300**0.5


@pytest.mark.parametrize("rank", [0, 1, 3])
def test_a_rank_below_the_sketch_is_exact_instead_of_singular(rank: int) -> None:
    values = torch.zeros(30, dtype=torch.float64)
    values[:rank] = 2.0
    found = xtrace(DenseOperator(with_eigenvalues(values)), num_products=16, generator=generator())
    assert found.value == pytest.approx(2.0 * rank, abs=1e-12)
    assert found.stderr == 0.0


@pytest.mark.parametrize("order", [1, 5])
def test_more_products_than_dimensions_are_exact(order: int) -> None:
    matrix = with_eigenvalues(torch.arange(1, order + 1, dtype=torch.float64)).float()
    found = xtrace(DenseOperator(matrix), num_products=40, generator=generator())
    assert found.value == pytest.approx(float(matrix.trace()), rel=1e-5)
    assert found.products.total == 2 * order


def test_bad_input_is_refused() -> None:
    with pytest.raises(InvalidInput, match="num_products must be >= 4"):
        xtrace(DenseOperator(torch.eye(3)), num_products=3, generator=generator())
    with pytest.raises(InvalidInput, match="square operator"):
        xtrace(DenseOperator(torch.ones(2, 3)), num_products=9, generator=generator())
