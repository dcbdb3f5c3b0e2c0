from __future__ import annotations

import pytest
import torch

from vitgeom.randnla.intervals import positive_mean_interval


@pytest.mark.parametrize(("degrees", "samples"), [(1, 100), (3, 30), (20, 8), (200, 8)])
def test_coverage_on_chi_squares(degrees: int, samples: int) -> None:
    """1000 intervals of known means: 95 % +- 5 standard errors of 0.7 %, and 2 % more for the skewed ones."""
    generator = torch.Generator().manual_seed(degrees)
    drawn = torch.randn(1000, samples, degrees, dtype=torch.float64, generator=generator)
    covered = 0
    for row in (drawn**2).sum(dim=2):
        interval = positive_mean_interval(row)
        covered += interval.low <= degrees <= interval.high
    assert 900 <= covered <= 985


def test_the_interval_stays_above_what_is_known() -> None:
    interval = positive_mean_interval(torch.tensor([0.0, 0.0, 9.0]), offset=100.0)
    assert 100.0 < interval.low < interval.value == pytest.approx(103.0)
    assert interval.high > 106


@pytest.mark.parametrize("samples", [[], [3.0], [0.0, 0.0]])
def test_without_spread_there_is_only_the_known_part(samples: list[float]) -> None:
    interval = positive_mean_interval(torch.tensor(samples), offset=7.0)
    assert (interval.value, interval.low, interval.high) == (7.0, 7.0, 7.0)
