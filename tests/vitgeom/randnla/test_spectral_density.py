from __future__ import annotations

import math

import pytest
import torch

from vitgeom.errors import InvalidInput
from vitgeom.randnla.spectral_density import SpectralDensity


def test_figures_by_hand() -> None:
    density = SpectralDensity.of_eigenvalues(torch.tensor([1.0, 6.0, 3.0], dtype=torch.float64))
    assert density.values.tolist() == [6.0, 3.0, 1.0]
    assert density.total == 10.0
    assert density.participation_ratio() == pytest.approx(100 / 46)
    entropy = -(0.6 * math.log(0.6) + 0.3 * math.log(0.3) + 0.1 * math.log(0.1))
    assert density.entropy_rank() == pytest.approx(math.exp(entropy))
    assert density.rank_for(0.6) == pytest.approx(1.0)
    assert density.rank_for(0.9) == pytest.approx(2.0)
    assert density.rank_for(1.0) == pytest.approx(3.0)


def test_an_atom_that_stands_for_many_counts_as_many() -> None:
    density = SpectralDensity.mixed(
        torch.tensor([4.0], dtype=torch.float64),
        torch.tensor([0.5, 1.0], dtype=torch.float64),
        torch.tensor([8.0, 2.0], dtype=torch.float64),
    )
    assert density.values.tolist() == [4.0, 1.0, 0.5]
    assert density.exact == 1
    alone = SpectralDensity.of_eigenvalues(torch.tensor([4.0, 1, 1, *[0.5] * 8], dtype=torch.float64))
    for figure in ("entropy_rank", "participation_ratio"):
        assert getattr(density, figure)() == pytest.approx(getattr(alone, figure)())
    assert density.rank_for(0.8) == pytest.approx(alone.rank_for(0.8))


def test_a_spectrum_of_zeros_has_no_ranks() -> None:
    density = SpectralDensity.of_eigenvalues(torch.tensor([0.0, -1e-18], dtype=torch.float64))
    assert density.values.tolist() == [0.0, 0.0]
    assert (density.entropy_rank(), density.participation_ratio(), density.rank_for(0.9)) == (
        None,
        None,
        None,
    )


def test_a_share_out_of_range_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"share must lie in \(0, 1\]"):
        SpectralDensity.of_eigenvalues(torch.ones(2, dtype=torch.float64)).rank_for(0.0)
