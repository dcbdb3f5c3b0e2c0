from __future__ import annotations

import pytest
import torch

from tests.support.matrices import planted, with_singular_values
from tests.support.planted_spectra import PlantedOperator, planted_spectra
from vitgeom.linop import DenseOperator
from vitgeom.randnla.block_golub_kahan import block_golub_kahan
from vitgeom.randnla.orthonormal import orthogonality_error
from vitgeom.randnla.ritz import RitzTriplets, numerical_rank, ritz_triplets


def triplets(matrix: torch.Tensor, *, rank: int = 5, max_products: int = 60, width: int = 2) -> RitzTriplets:
    basis = block_golub_kahan(
        DenseOperator(matrix),
        width=width,
        rank=rank,
        max_products=max_products,
        generator=torch.Generator().manual_seed(0),
    )
    return ritz_triplets(basis, rank=rank)


@pytest.mark.parametrize("name", ["slow", "fast", "exponential"])
def test_ritz_values_never_exceed_the_singular_values_and_vectors_are_orthonormal(name: str) -> None:
    matrix = with_singular_values(planted(60)[name], rows=80, columns=90)
    found = triplets(matrix)
    true = torch.linalg.svdvals(matrix)
    assert bool((found.sigma <= true[: len(found.sigma)] * (1 + 1e-12)).all())
    assert orthogonality_error(found.right_NR) < 1e-12
    assert torch.allclose(matrix @ found.right_NR, found.left_MR * found.sigma[:5], atol=1e-12)


def test_what_is_called_converged_has_converged() -> None:
    matrix = with_singular_values(planted(60)["fast"], rows=80, columns=90)
    found = triplets(matrix)
    assert found.converged >= 5
    true = torch.linalg.svdvals(matrix)[: found.converged]
    assert torch.allclose(found.sigma[: found.converged] ** 2, true**2, rtol=1e-3)


def test_residuals_bound_the_error_of_the_values() -> None:
    matrix = with_singular_values(planted(60)["slow"], rows=80, columns=90)
    found = triplets(matrix, max_products=30)
    true = torch.linalg.svdvals(matrix)
    for sigma, residual in zip(found.sigma[:5].tolist(), found.residuals.tolist(), strict=True):
        assert float((true - sigma).abs().min()) <= residual


def test_the_lost_energy_is_of_the_right_size() -> None:
    squared = planted_spectra(600)["j^-0.5"]
    ratios = []
    for seed in range(10):
        basis = block_golub_kahan(
            PlantedOperator(squared),
            width=4,
            rank=20,
            max_products=110,
            generator=torch.Generator().manual_seed(seed),
        )
        found = ritz_triplets(basis, rank=20)
        ratios.append(found.lost / float(squared[:20].sum() - (found.sigma[:20] ** 2).sum()))
    assert 0.2 < sorted(ratios)[5] < 10


def test_an_exhausted_basis_has_lost_nothing() -> None:
    found = triplets(with_singular_values(torch.tensor([5.0, 3, 1]), rows=50, columns=40), width=5)
    assert (found.lost, found.converged) == (0.0, 3)
    assert found.right_NR.shape == (40, 3)


def test_rounding_is_no_rank() -> None:
    basis = block_golub_kahan(
        DenseOperator(torch.zeros(4, 4)),
        width=2,
        rank=2,
        max_products=8,
        generator=torch.Generator().manual_seed(0),
    )
    assert numerical_rank(torch.tensor([], dtype=torch.float64), basis) == 0
    assert numerical_rank(torch.tensor([1.0, 1e-3, 1e-9], dtype=torch.float64), basis) == 2
