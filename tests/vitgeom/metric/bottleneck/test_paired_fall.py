from __future__ import annotations

import pytest
import torch

from vitgeom.metric.bottleneck.paired_fall import fall


def generator() -> torch.Generator:
    return torch.Generator().manual_seed(0)


def test_a_common_factor_is_found_exactly_whatever_images_are_drawn():
    after = torch.tensor([1.0, 5.0, 2.0], dtype=torch.float64)
    found = fall(4 * after, after, num_resamples=200, generator=generator())
    assert found is not None
    assert (found.value, found.low, found.high) == pytest.approx((4, 4, 4))


def test_the_interval_is_that_of_ratios_of_resampled_means():
    before, after = torch.tensor([10.0, 30.0]).double(), torch.tensor([5.0, 5.0]).double()
    found = fall(before, after, num_resamples=500, generator=generator())
    assert found is not None
    assert (found.value, found.low, found.high) == pytest.approx((4, 2, 6))


def test_images_without_one_of_the_figures_are_left_out():
    nan = float("nan")
    before, after = torch.tensor([8.0, nan, 100.0]).double(), torch.tensor([2.0, 1.0, nan]).double()
    found = fall(before, after, num_resamples=50, generator=generator())
    assert found is not None
    assert (found.value, found.low, found.high) == (4, 4, 4)


@pytest.mark.parametrize("after", [[0.0, 0.0], [float("nan")] * 2])
def test_without_anything_left_there_is_no_factor(after):
    before = torch.ones(2, dtype=torch.float64)
    found = fall(before, torch.tensor(after).double(), num_resamples=50, generator=generator())
    assert found is None
