from __future__ import annotations

import pytest
import torch
from torch import Tensor

from vitgeom.metric.alignment import alignment, directions_of, random_alignment
from vitgeom.seeding import generator_for


def subspace(p: int, r: int, *, count: int = 2, name: str = "u") -> Tensor:
    drawn = torch.randn(count, p, r, dtype=torch.float64, generator=generator_for(0, name, count, p, r))
    return torch.linalg.qr(drawn).Q


def test_it_is_the_mean_squared_cosine_of_the_principal_angles() -> None:
    u, v = subspace(30, 4), subspace(30, 4, name="v")
    cosines = torch.linalg.svdvals(u.mT @ v)
    torch.testing.assert_close(alignment(u, v), cosines.square().mean(dim=1))


def test_signs_and_rotations_within_a_subspace_change_nothing() -> None:
    u, v = subspace(30, 4), subspace(30, 4, name="v")
    turn = torch.linalg.qr(torch.randn(4, 4, dtype=torch.float64, generator=generator_for(0, "turn"))).Q
    torch.testing.assert_close(alignment(u @ turn, v), alignment(u, v))
    torch.testing.assert_close(alignment(u, -v @ turn), alignment(u, v))
    torch.testing.assert_close(alignment(u, u @ turn), torch.ones(2, dtype=torch.float64))


def test_only_directions_that_exist_count() -> None:
    u, v = subspace(30, 4), subspace(30, 4, name="v")
    garbage = v.clone()
    garbage[0, :, 2:] = torch.nan
    found = alignment(u, garbage, num_found=torch.tensor([2, 4]))
    torch.testing.assert_close(found[0], (u[0].T @ v[0, :, :2]).square().sum() / 2)
    torch.testing.assert_close(found[1], alignment(u, v)[1])
    assert alignment(u, v, num_found=torch.tensor([0, 1]))[0] == 0


@pytest.mark.parametrize(("r", "stored"), [(3, 6), (6, 3)])
def test_targets_may_hold_more_or_fewer_directions_than_the_network(r: int, stored: int) -> None:
    u, v = subspace(30, r), subspace(30, stored, name="v")
    m = min(r, stored)
    torch.testing.assert_close(alignment(u, v), (u.mT @ v[:, :, :m]).square().sum(dim=(1, 2)) / m)
    assert directions_of(v, rank=r, num_found=torch.tensor([9, 1])).tolist() == [m, 1]
    around = torch.linalg.qr(torch.cat([v, u], dim=2)).Q
    assert alignment(around, v).tolist() == pytest.approx([1.0, 1.0])


def test_a_random_subspace_reaches_what_it_should() -> None:
    u, v = subspace(60, 5, count=2000), subspace(60, 5, count=2000, name="v")
    values = alignment(u, v)
    error = float(values.std()) / 2000**0.5
    assert abs(float(values.mean()) - random_alignment(5, num_tokens=12, dim=5)) < 5 * error


def test_autocast_does_not_blur_it() -> None:
    u, v = subspace(30, 4).float(), subspace(30, 4, name="v").float()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        found = alignment(u, v)
    assert torch.equal(found, alignment(u, v))
