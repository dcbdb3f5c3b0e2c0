from __future__ import annotations

import math

import pytest
import torch

from vitgeom.metric.energy_scale import EnergyScale


def test_without_correction_energies_are_the_typical_ones() -> None:
    scale = EnergyScale(3)
    scale.fit(torch.tensor([[2.0, -1.0, -30.0], [4.0, -3.0, -40.0]]))
    torch.testing.assert_close(scale(torch.ones(1, 3)), torch.tensor([[3.0, -2.0, -35.0]]).exp())


def test_modes_that_are_missing_are_left_out_or_get_the_last_ones() -> None:
    scale = EnergyScale(4)
    scale.fit(torch.tensor([[1.0, 0.0, math.nan], [3.0, math.nan, math.nan]]))
    assert scale.log_energy.tolist() == [2.0, 0.0, 0.0, 0.0]
    scale.fit(torch.full((2, 3), math.nan))
    assert scale.log_energy.tolist() == [0.0] * 4


def test_what_other_directions_count_is_set_where_it_is_known() -> None:
    scale = EnergyScale(2)
    scale.fit(torch.zeros(3, 2), outside=torch.tensor([1.0, 2.0, 6.0]))
    assert float(scale.eps) == 3
    scale.fit(torch.zeros(3, 2))
    assert float(scale.eps) == 0


def test_energies_are_sorted_and_positive() -> None:
    scale = EnergyScale(3)
    found = scale(torch.tensor([[0.1, 5.0, 1.0], [1e-45, 1.0, 2.0]]))
    assert found[0].tolist() == pytest.approx([5.0, 1.0, 0.1])
    assert (found > 0).all()
    assert found.log().isfinite().all()


def test_corrections_have_gradients() -> None:
    corrections = torch.tensor([[0.5, 2.0]], requires_grad=True)
    EnergyScale(2)(corrections).log().sum().backward()
    assert corrections.grad.tolist() == [[2.0, 0.5]]
