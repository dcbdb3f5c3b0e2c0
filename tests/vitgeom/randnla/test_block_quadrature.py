from __future__ import annotations

import pytest
import torch

from tests.support.matrices import with_singular_values
from tests.support.planted_spectra import PlantedOperator, planted_spectra
from vitgeom.linop import DenseOperator
from vitgeom.randnla.block_golub_kahan import block_golub_kahan
from vitgeom.randnla.block_quadrature import block_density
from vitgeom.randnla.ritz import ritz_triplets
from vitgeom.randnla.spectral_density import SpectralDensity


def density(squared: torch.Tensor, *, seed: int = 0, max_products: int = 120) -> SpectralDensity:
    basis = block_golub_kahan(
        PlantedOperator(squared),
        width=4,
        rank=20,
        max_products=max_products,
        generator=torch.Generator().manual_seed(seed),
    )
    found = ritz_triplets(basis, rank=20)
    return block_density(basis, exact_E=found.sigma[: found.converged] ** 2, total=float(squared.sum()))


@pytest.mark.parametrize(
    ("name", "within"),
    [("j^-0.5", 0.1), ("j^-1", 0.15), ("j^-1.5", 0.1), ("exp(-j/60)", 0.15), ("step", 0.15), ("flat", 1e-6)],
)
def test_effective_ranks_come_for_nothing(name: str, within: float) -> None:
    squared = planted_spectra(1000)[name]
    true = SpectralDensity.of_eigenvalues(squared)
    errors = []
    for seed in range(5):
        found = density(squared, seed=seed)
        assert found.total == pytest.approx(true.total)
        assert found.participation_ratio() == pytest.approx(true.participation_ratio(), rel=within)
        errors.append(found.entropy_rank() / true.entropy_rank() - 1)
    assert sum(error**2 for error in errors) / 5 < (2 * within) ** 2


def test_an_exhausted_basis_gives_the_eigenvalues() -> None:
    matrix = with_singular_values(torch.tensor([5.0, 3, 1]), rows=50, columns=40)
    basis = block_golub_kahan(
        DenseOperator(matrix), width=2, rank=3, max_products=60, generator=torch.Generator().manual_seed(0)
    )
    found = block_density(basis, exact_E=torch.zeros(0, dtype=torch.float64), total=35.0)
    assert found.values.tolist() == pytest.approx([25.0, 9.0, 1.0])
    assert found.exact == 3
