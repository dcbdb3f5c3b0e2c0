from __future__ import annotations

import pytest
import torch

from tests.vitgeom.spectra.sketches import sketch
from vitgeom.bootstrap import Interval
from vitgeom.randnla.spectral_density import SpectralDensity
from vitgeom.spectra.effective_rank import effective_ranks, rank_for_share


def test_all_four_by_hand() -> None:
    squared = torch.tensor([6.0, 3.0, 1.0], dtype=torch.float64)
    found = effective_ranks(sketch([6.0, 3.0, 1.0], density=SpectralDensity.of_eigenvalues(squared)))
    assert found.participation_ratio == pytest.approx(100 / 46)
    assert found.stable_rank == pytest.approx(10 / 6)
    assert found.entropy_rank == SpectralDensity.of_eigenvalues(squared).entropy_rank()
    assert found.r_90 is not None
    assert (found.r_90.status, found.r_90.value, found.r_90.low, found.r_90.high) == ("exact", 2.0, 2, 2)


def test_an_uncertain_norm_gives_an_interval() -> None:
    found = rank_for_share(sketch([4.0, 3.0, 2.0, 1.0], norm=Interval(10.0, 7.5, 10.5)))
    assert (found.status, found.low, found.value, found.high) == ("interval", 2, 3.0, 4)


def test_beyond_the_converged_values_there_is_a_bound() -> None:
    found = rank_for_share(
        sketch([4.0, 3.0, 2.0, 1.0], converged=2, shape=(40, 50), norm=Interval(20.0, 19.0, 21.0))
    )
    # 0.9 * 19 - 7 = 10.1 is missing, at most 3 each.
    assert (found.status, found.low, found.high, found.value) == ("bound", 2 + 4, 40, None)


def test_a_guess_is_never_below_the_bound() -> None:
    density = SpectralDensity.of_eigenvalues(torch.tensor([20.0], dtype=torch.float64))
    found = rank_for_share(
        sketch([4.0, 3.0], converged=2, shape=(40, 50), norm=Interval(20.0, 19.0, 21.0), density=density)
    )
    assert found.value == found.low == 6


def test_nothing_converged_still_bounds() -> None:
    found = rank_for_share(
        sketch([4.0], rank=1, converged=0, shape=(40, 50), norm=Interval(20.0, 20.0, 20.0))
    )
    assert (found.status, found.low) == ("bound", 5)


def test_a_zero_jacobian_has_no_ranks() -> None:
    found = effective_ranks(sketch([0.0, 0.0]))
    assert found.to_json() == dict.fromkeys(("participation_ratio", "entropy_rank", "stable_rank", "r_90"))
