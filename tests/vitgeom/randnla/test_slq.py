from __future__ import annotations

import pytest
import torch

from tests.support.counting_operator import CountingOperator
from tests.support.matrices import planted, with_singular_values
from vitgeom.errors import InvalidInput
from vitgeom.linop import DenseOperator
from vitgeom.randnla.lanczos import lanczos
from vitgeom.randnla.slq import gauss_quadrature, spectral_density


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def test_weights_are_squared_first_components_and_sum_to_one() -> None:
    matrix = torch.diag(torch.arange(1.0, 11.0)).double()
    start = torch.randn(10, 1, dtype=torch.float64, generator=generator())
    nodes, weights = gauss_quadrature(lanczos(DenseOperator(matrix), start, steps=10))
    assert nodes.tolist() == pytest.approx(list(range(1, 11)))
    assert weights.tolist() == pytest.approx((start[:, 0] ** 2 / start.norm() ** 2).tolist())
    assert float(weights.sum()) == pytest.approx(1.0)


def test_quadrature_is_exact_for_low_powers_of_the_operator() -> None:
    matrix = with_singular_values(planted(40)["slow"], rows=40, columns=40)
    gram = matrix.mT @ matrix
    start = torch.randn(40, 1, dtype=torch.float64, generator=generator())
    start = start / start.norm()
    nodes, weights = gauss_quadrature(lanczos(DenseOperator(gram), start, steps=4))
    image = start
    for power in range(8):
        assert float((nodes**power * weights).sum()) == pytest.approx(float(start.mT @ image), rel=1e-9)
        image = gram @ image


def test_counts_add_up_to_the_order_and_products_to_the_cost() -> None:
    operator = CountingOperator(with_singular_values(planted(40)["slow"], rows=50, columns=60))
    found = spectral_density(operator, num_probes=3, steps=5, generator=generator())
    assert float(found.counts.sum()) == pytest.approx(60.0)
    assert (operator.jvp, operator.vjp) == (15, 15)
    assert found.products.total == 30


@pytest.mark.parametrize("name", ["slow", "flat", "exponential"])
def test_effective_ranks_are_near_those_of_the_matrix(name: str) -> None:
    sigma = planted(200)[name]
    operator = DenseOperator(with_singular_values(sigma, rows=200, columns=200))
    found = spectral_density(operator, num_probes=30, steps=12, generator=generator())
    total = float((sigma**2).sum())
    assert found.total == pytest.approx(total, rel=0.1)
    assert found.participation_ratio() == pytest.approx(total**2 / float((sigma**4).sum()), rel=0.2)


def test_known_pairs_are_kept_exact() -> None:
    sigma = planted(60)["fast"]
    matrix = with_singular_values(sigma, rows=70, columns=80)
    vt = torch.linalg.svd(matrix, full_matrices=False).Vh
    found = spectral_density(
        DenseOperator(matrix),
        num_probes=10,
        steps=8,
        known_right_NE=vt[:5].mT,
        known_values_E=sigma[:5] ** 2,
        generator=generator(),
    )
    assert found.exact == 5
    assert found.values[:5].tolist() == pytest.approx((sigma[:5] ** 2).tolist())
    assert float(found.counts.sum()) == pytest.approx(80.0)
    total = float((sigma**2).sum())
    assert found.participation_ratio() == pytest.approx(total**2 / float((sigma**4).sum()), rel=0.05)


def test_all_pairs_known_leave_nothing_to_do() -> None:
    operator = CountingOperator(torch.diag(torch.tensor([2.0, 1.0])))
    found = spectral_density(
        operator,
        num_probes=2,
        steps=2,
        known_right_NE=torch.eye(2),
        known_values_E=torch.tensor([4.0, 1.0], dtype=torch.float64),
        generator=generator(),
    )
    assert operator.jvp == 0
    assert found.values.tolist() == [4.0, 1.0]


def test_a_zero_operator_has_a_spectrum_of_zeros() -> None:
    found = spectral_density(DenseOperator(torch.zeros(5, 6)), num_probes=2, steps=3, generator=generator())
    assert found.total == 0.0
    assert float(found.counts.sum()) == pytest.approx(6.0)


def test_bad_input_is_refused() -> None:
    operator = DenseOperator(torch.eye(3))
    with pytest.raises(InvalidInput, match="num_probes must be a whole number >= 1"):
        spectral_density(operator, num_probes=0, steps=1, generator=generator())
    with pytest.raises(InvalidInput, match="steps must be a whole number >= 1"):
        spectral_density(operator, num_probes=1, steps=0, generator=generator())
    with pytest.raises(InvalidInput, match="must be given together"):
        spectral_density(operator, num_probes=1, steps=1, known_right_NE=torch.eye(3), generator=generator())
