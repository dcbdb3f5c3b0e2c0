from __future__ import annotations

import pytest
import torch

from vitgeom.linop.finite_difference import agrees, central_differences


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_smooth_function_is_differentiated(dtype: torch.dtype) -> None:
    x = torch.linspace(0.5, 2, 6, dtype=dtype)
    difference, noise = next(central_differences(torch.sin, x, torch.ones_like(x)))
    assert agrees(difference, x.cos(), noise=noise, bound=1e-3)
    assert not agrees(difference, 1.1 * x.cos(), noise=noise, bound=1e-2)


def test_steps_that_leave_the_finite_numbers_are_left_out() -> None:
    x = torch.full((1,), 1e-3, dtype=torch.float64)
    steps = list(central_differences(lambda y: (y - 0.9999e-3).log(), x, torch.ones(1, dtype=torch.float64)))
    assert 0 < len(steps) < 3


def test_rounding_on_a_large_offset_is_no_contradiction() -> None:
    x = torch.ones(4)
    found = [
        agrees(difference, torch.full((4,), 1e-4), noise=noise, bound=0.05)
        for difference, noise in central_differences(lambda y: 1e4 + 1e-4 * y, x, torch.ones(4))
    ]
    assert any(found)


def test_zero_features_and_directions_are_no_division_by_zero() -> None:
    zero = torch.zeros(3, dtype=torch.float64)
    for direction in (zero, zero + 1):
        difference, _ = next(central_differences(lambda y: 2 * y, zero, direction))
        torch.testing.assert_close(difference, 2 * direction)
