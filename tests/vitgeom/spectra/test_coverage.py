"""Do the 95 % intervals of the default recipe cover? 200 fixed draws on planted spectra."""

from __future__ import annotations

import pytest
import torch

from tests.support.planted_spectra import PlantedOperator, planted_spectra
from vitgeom.spectra.kappa_cap import kappa_interval
from vitgeom.spectra.krylov_recipe import krylov_sketch

DRAWS, RANK, BUDGET = 200, 3, 36


@pytest.mark.parametrize("name", ["j^-0.5", "j^-1", "exp(-j/10)"])
def test_between_90_and_99_percent_of_the_intervals_cover(name: str) -> None:
    squared = planted_spectra(100)[name]
    operator, total = PlantedOperator(squared), float(squared.sum())
    kappa = float(squared[:RANK].sum()) / total
    norms = kappas = 0
    for draw in range(DRAWS):
        found = krylov_sketch(
            operator, rank=RANK, budget=BUDGET, num_tokens=1, generator=torch.Generator().manual_seed(draw)
        )
        interval = kappa_interval(found)
        assert interval is not None
        norms += found.norm.low <= total <= found.norm.high
        kappas += interval.low <= kappa <= interval.high
    assert 0.90 <= norms / DRAWS <= 0.99
    assert 0.90 <= kappas / DRAWS <= 0.99
