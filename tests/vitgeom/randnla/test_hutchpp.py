from __future__ import annotations

import pytest
import torch

from tests.support.counting_operator import CountingOperator
from tests.support.matrices import orthonormal
from vitgeom.errors import InvalidInput
from vitgeom.linop import DenseOperator
from vitgeom.randnla.hutchinson import hutchinson_trace
from vitgeom.randnla.hutchpp import hutchpp_trace


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def with_eigenvalues(values: torch.Tensor) -> torch.Tensor:
    q = orthonormal(len(values), len(values), seed=3)
    return (q * values) @ q.mT


DECAY = torch.arange(1, 201, dtype=torch.float64) ** -2.0


def test_a_low_rank_operator_is_exact() -> None:
    values = torch.zeros(30, dtype=torch.float64)
    values[:4] = torch.tensor([4.0, 3, 2, 1])
    operator = CountingOperator(with_eigenvalues(values))
    found = hutchpp_trace(operator, num_products=18, generator=generator())
    assert found.value == pytest.approx(10.0, rel=1e-10)
    assert found.stderr < 1e-10
    assert found.products.total == operator.jvp <= 18


def test_it_is_unbiased_and_its_error_bar_is_right() -> None:
    matrix = with_eigenvalues(DECAY)
    found = [
        hutchpp_trace(DenseOperator(matrix), num_products=30, generator=generator(seed))
        for seed in range(200)
    ]
    errors = torch.tensor([each.value - float(DECAY.sum()) for each in found])
    assert abs(float(errors.mean())) < 5 * float(errors.std()) / 200**0.5
    claimed = sum(each.stderr**2 for each in found) / 200
    assert claimed == pytest.approx(float(errors.var()), rel=0.5)


def test_it_beats_plain_probes_on_a_decaying_spectrum() -> None:
    operator = DenseOperator(with_eigenvalues(DECAY))

    def error(method: str, seed: int) -> float:
        if method == "plain":
            value = hutchinson_trace(operator, num_probes=60, generator=generator(seed)).value
        else:
            value = hutchpp_trace(operator, num_products=60, generator=generator(seed)).value
        return (value - float(DECAY.sum())) ** 2

    plain, deflated = (sum(error(method, seed) for seed in range(20)) for method in ("plain", "deflated"))
    assert deflated < plain / 100


@pytest.mark.parametrize(("order", "value"), [(1, 2.0), (3, 0.0)])
def test_tiny_and_zero_operators(order: int, value: float) -> None:
    found = hutchpp_trace(DenseOperator(value * torch.eye(order)), num_products=9, generator=generator())
    assert found.value == pytest.approx(order * value)


def test_too_few_products_and_rectangles_are_refused() -> None:
    with pytest.raises(InvalidInput, match="num_products must be >= 6"):
        hutchpp_trace(DenseOperator(torch.eye(3)), num_products=5, generator=generator())
    with pytest.raises(InvalidInput, match="square operator"):
        hutchpp_trace(DenseOperator(torch.ones(2, 3)), num_products=9, generator=generator())
