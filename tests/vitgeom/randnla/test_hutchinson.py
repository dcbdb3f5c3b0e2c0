from __future__ import annotations

import pytest
import torch

from tests.support.counting_operator import CountingOperator
from tests.support.matrices import planted, with_singular_values
from vitgeom.errors import InvalidInput
from vitgeom.linop import DenseOperator
from vitgeom.randnla.hutchinson import frobenius_squared, hutchinson_trace
from vitgeom.randnla.random_vectors import gaussian


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def symmetric(order: int) -> torch.Tensor:
    drawn = torch.randn(order, order, dtype=torch.float64, generator=generator(7))
    return drawn + drawn.mT


def test_every_probe_is_exact_on_a_diagonal_operator() -> None:
    operator = CountingOperator(torch.diag(torch.arange(5.0)))
    found = hutchinson_trace(operator, num_probes=3, generator=generator())
    assert found.value == pytest.approx(10.0)
    assert found.stderr == pytest.approx(0.0, abs=1e-7)
    assert found.products.jvp == operator.jvp == 3


@pytest.mark.parametrize("seed", range(5))
def test_error_bar_covers_the_dense_trace(seed: int) -> None:
    matrix = symmetric(40)
    found = hutchinson_trace(DenseOperator(matrix), num_probes=200, generator=generator(seed))
    assert abs(found.value - float(matrix.trace())) < 5 * found.stderr


def test_the_variance_of_a_probe_is_the_stated_one() -> None:
    matrix = symmetric(10)
    found = hutchinson_trace(DenseOperator(matrix), num_probes=20_000, generator=generator())
    expected = 2 * float((matrix**2).sum() - (matrix.diagonal() ** 2).sum())
    assert found.stderr**2 * 20_000 == pytest.approx(expected, rel=0.05)


@pytest.mark.parametrize("transposed", [True, False])
def test_the_norm_is_covered_from_both_sides(transposed: bool) -> None:
    matrix = with_singular_values(planted(20)["slow"], rows=30, columns=25)
    operator = CountingOperator(matrix)
    found = frobenius_squared(
        operator, num_probes=300, transposed=transposed, draw=gaussian, generator=generator()
    )
    assert abs(found.value - float((matrix**2).sum())) < 5 * found.stderr
    assert (operator.vjp, operator.jvp) == ((300, 0) if transposed else (0, 300))
    assert found.products.total == 300


def test_a_zero_operator_has_norm_zero() -> None:
    found = frobenius_squared(DenseOperator(torch.zeros(3, 4)), num_probes=2, generator=generator())
    assert (found.value, found.stderr) == (0.0, 0.0)


def test_one_probe_is_refused() -> None:
    with pytest.raises(InvalidInput, match="num_probes must be a whole number >= 2"):
        hutchinson_trace(DenseOperator(torch.eye(3)), num_probes=1, generator=generator())
    with pytest.raises(InvalidInput, match="num_probes must be a whole number >= 2"):
        frobenius_squared(DenseOperator(torch.eye(3)), num_probes=1, generator=generator())


def test_a_rectangle_has_no_trace() -> None:
    with pytest.raises(InvalidInput, match="trace needs a square operator, got 2 x 3"):
        hutchinson_trace(DenseOperator(torch.ones(2, 3)), num_probes=2, generator=generator())
