from __future__ import annotations

import pytest
import torch

from tests.support.counting_operator import CountingOperator
from tests.support.matrices import planted, with_singular_values
from vitgeom.errors import InvalidInput
from vitgeom.linop import DenseOperator
from vitgeom.randnla.block_golub_kahan import BlockGolubKahan, block_golub_kahan
from vitgeom.randnla.deflated_probes import deflated_probes
from vitgeom.randnla.hutchinson import frobenius_squared


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def basis_of(matrix: torch.Tensor, *, max_products: int = 20, rank: int = 3) -> BlockGolubKahan:
    return block_golub_kahan(
        DenseOperator(matrix), width=2, rank=rank, max_products=max_products, generator=generator()
    )


@pytest.mark.parametrize("name", ["slow", "fast", "exponential"])
@pytest.mark.parametrize("shape", [(60, 80), (80, 60)])
def test_the_norm_is_unbiased_and_inside_its_error_bar(name: str, shape: tuple[int, int]) -> None:
    matrix = with_singular_values(planted(60)[name], rows=shape[0], columns=shape[1])
    found = deflated_probes(DenseOperator(matrix), basis_of(matrix), num_probes=4000, generator=generator(1))
    assert abs(found.norm.value - float((matrix**2).sum())) < 5 * found.norm.stderr
    assert found.norm.value >= found.known


def test_it_beats_plain_probes() -> None:
    matrix = with_singular_values(planted(60)["fast"], rows=80, columns=90)
    deflated = deflated_probes(
        DenseOperator(matrix), basis_of(matrix), num_probes=500, generator=generator(1)
    ).norm
    plain = frobenius_squared(DenseOperator(matrix), num_probes=500, generator=generator(1))
    assert deflated.stderr < plain.stderr / 20


def test_taking_u_off_the_open_left_vectors_would_be_biased() -> None:
    """The estimator that the docstring warns of is off by the energy of U^T J (I - V V^T)."""
    matrix = with_singular_values(planted(40)["slow"], rows=50, columns=60)
    basis = basis_of(matrix)
    outside = matrix - matrix @ basis.right_NB @ basis.right_NB.mT
    true = float((outside**2).sum())
    closed, everything = basis.left_MA[:, : basis.closed], basis.left_MA
    assert float(((closed.mT @ outside) ** 2).sum()) < 1e-20
    assert float(((everything.mT @ outside) ** 2).sum()) > 1e-3 * true


def test_an_isometry_outside_has_no_variance() -> None:
    matrix = with_singular_values(torch.ones(40), rows=40, columns=60)
    found = deflated_probes(DenseOperator(matrix), basis_of(matrix), num_probes=5, generator=generator())
    assert found.norm.value == pytest.approx(40.0, rel=1e-12)
    assert found.norm.stderr < 1e-10


def test_cost_is_the_probes_alone_and_nothing_when_exhausted() -> None:
    matrix = with_singular_values(planted(40)["slow"], rows=50, columns=60)
    operator = CountingOperator(matrix)
    found = deflated_probes(operator, basis_of(matrix), num_probes=17, chunk=5, generator=generator())
    assert (operator.jvp, operator.vjp, found.products.vjp) == (0, 17, 17)
    small = torch.ones(3, 4)
    operator = CountingOperator(small)
    found = deflated_probes(operator, basis_of(small), num_probes=17, generator=generator())
    assert operator.vjp == found.products.total == 0
    assert found.norm.value == pytest.approx(12.0, rel=1e-5)
    assert found.norm.stderr == 0.0


def test_one_probe_is_refused() -> None:
    with pytest.raises(InvalidInput, match="num_probes must be >= 2"):
        deflated_probes(
            DenseOperator(torch.eye(9)), basis_of(torch.eye(9)), num_probes=1, generator=generator()
        )


def test_fresh_blocks_of_closed_runs_are_probes_already_paid_for() -> None:
    matrix = with_singular_values(torch.tensor([1.0] * 15 + [0.05] * 85), rows=100, columns=110)
    errors = []
    for seed in range(200):
        basis = block_golub_kahan(
            DenseOperator(matrix), width=1, rank=5, max_products=80, generator=generator(seed)
        )
        found = deflated_probes(DenseOperator(matrix), basis, num_probes=10, generator=generator(1000 + seed))
        errors.append(found.norm.value - float((matrix**2).sum()))
    assert len(found.outside_S) > len(found.images_NK.T)
    sample = torch.tensor(errors, dtype=torch.float64)
    assert abs(float(sample.mean())) < 5 * float(sample.std()) / 200**0.5


def test_spikes_keep_their_fresh_blocks_out_of_the_mean() -> None:
    matrix = with_singular_values(torch.tensor([10.0] * 4 + [0.05] * 96), rows=100, columns=110)
    basis = block_golub_kahan(DenseOperator(matrix), width=2, rank=4, max_products=80, generator=generator())
    found = deflated_probes(DenseOperator(matrix), basis, num_probes=10, generator=generator(1))
    assert len(found.outside_S) == 10
    assert found.norm.value == pytest.approx(400.24, rel=1e-6)
