from __future__ import annotations

import pytest
import torch

from tests.support.counting_operator import CountingOperator
from tests.support.matrices import orthonormal
from vitgeom.errors import InvalidInput
from vitgeom.linop import DenseOperator
from vitgeom.randnla.lanczos import lanczos
from vitgeom.randnla.orthonormal import orthogonality_error


def symmetric(values: torch.Tensor) -> torch.Tensor:
    q = orthonormal(len(values), len(values), seed=3)
    return (q * values.double()) @ q.mT


def start(order: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(order, 1, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_recurrence_holds_and_the_basis_stays_orthonormal(dtype: torch.dtype) -> None:
    matrix = symmetric(torch.arange(1, 61) ** -1.0).to(dtype)
    found = lanczos(DenseOperator(matrix), start(60), steps=25)
    rest = matrix.double() @ found.basis_NK.double() - found.basis_NK.double() @ found.tridiagonal()
    accuracy = 1e-5 if dtype == torch.float32 else 1e-12
    assert float(rest[:, :-1].abs().max()) < accuracy
    assert orthogonality_error(found.basis_NK) < accuracy
    assert bool((found.off_diagonal > 0).all())


def test_all_steps_give_all_eigenvalues() -> None:
    values = torch.tensor([-2.0, 0.5, 1.0, 4.0])
    operator = CountingOperator(symmetric(values))
    found = lanczos(operator, start(4), steps=10)
    assert torch.linalg.eigvalsh(found.tridiagonal()).tolist() == pytest.approx(values.tolist())
    assert operator.jvp == found.products.jvp == 4


@pytest.mark.parametrize(
    ("values", "steps"),
    [(torch.ones(50), 1), (torch.zeros(50), 1), (torch.tensor([2.0] * 20 + [5.0] * 30), 2)],
)
def test_it_stops_where_the_space_is_closed(values: torch.Tensor, steps: int) -> None:
    found = lanczos(DenseOperator(symmetric(values)), start(50), steps=30)
    assert found.closed
    assert len(found.diagonal) == steps
    assert set(torch.linalg.eigvalsh(found.tridiagonal()).round(decimals=8).tolist()) == set(values.tolist())


def test_bad_input_is_refused() -> None:
    operator = DenseOperator(torch.eye(3, dtype=torch.float64))
    with pytest.raises(InvalidInput, match="steps must be a whole number >= 1"):
        lanczos(operator, start(3), steps=0)
    with pytest.raises(InvalidInput, match="not zero"):
        lanczos(operator, torch.zeros(3, 1), steps=2)
    with pytest.raises(InvalidInput, match="square operator"):
        lanczos(DenseOperator(torch.ones(2, 3)), start(3), steps=2)
