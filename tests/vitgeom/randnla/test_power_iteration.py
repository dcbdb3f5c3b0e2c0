from __future__ import annotations

import pytest
import torch

from tests.support.counting_operator import CountingOperator
from tests.support.matrices import planted, with_singular_values
from vitgeom.errors import InvalidInput
from vitgeom.linop import DenseOperator
from vitgeom.randnla.orthonormal import orthogonality_error
from vitgeom.randnla.power_iteration import power_iteration


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def test_many_steps_reach_the_dense_vectors() -> None:
    matrix = with_singular_values(torch.tensor([8.0, 4, 2, 1]), rows=20, columns=30)
    found = power_iteration(DenseOperator(matrix), rank=3, steps=40, generator=generator())
    _, sigma, vt = torch.linalg.svd(matrix)
    assert torch.allclose(found.lengths, sigma[:3], rtol=1e-6)
    assert torch.allclose((vt[:3] @ found.right_NR).abs(), torch.eye(3).double(), atol=1e-6)


def test_cost_and_orthonormality_are_as_stated() -> None:
    operator = CountingOperator(with_singular_values(planted(40)["slow"], rows=50, columns=60).float())
    found = power_iteration(operator, rank=20, steps=2, generator=generator())
    assert (operator.jvp, operator.vjp) == (60, 40)
    assert found.products.total == 100
    assert orthogonality_error(found.right_NR) < 1e-5
    assert bool((found.lengths.diff() <= 0).all())


@pytest.mark.parametrize("shape", [(1, 1), (1, 6), (6, 1), (5, 8)])
def test_rank_beyond_the_shape_gives_what_there_is(shape: tuple[int, int]) -> None:
    found = power_iteration(DenseOperator(torch.ones(shape)), rank=20, generator=generator())
    assert found.right_NR.shape == (shape[1], min(shape))
    assert float(found.lengths[0]) == pytest.approx((shape[0] * shape[1]) ** 0.5, rel=1e-5)


def test_a_zero_operator_has_zero_lengths() -> None:
    found = power_iteration(DenseOperator(torch.zeros(5, 6)), rank=2, generator=generator())
    assert found.lengths.tolist() == [0.0, 0.0]


def test_bad_numbers_are_refused() -> None:
    operator = DenseOperator(torch.eye(3))
    with pytest.raises(InvalidInput, match="rank must be a whole number >= 1"):
        power_iteration(operator, rank=0, generator=generator())
    with pytest.raises(InvalidInput, match="steps must be a whole number >= 0"):
        power_iteration(operator, rank=1, steps=-1, generator=generator())
