from __future__ import annotations

import pytest
import torch

from vitgeom.metric.bottleneck.register_rotation import RegisterRotation


def directions(count: int, *, size: int = 12) -> torch.Tensor:
    drawn = torch.randn(size, count, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    return torch.linalg.qr(drawn).Q


def fitted(found: torch.Tensor, *, principal: int) -> RegisterRotation:
    rotation = RegisterRotation(3, 4, principal=principal).double()
    rotation.fit(found)
    return rotation


def latents(count: int = 5) -> torch.Tensor:
    return torch.randn(count, 3, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("count", [1, 4, 12])
def test_directions_become_axes_up_to_sign(count):
    wanted = directions(count)
    rotation = fitted(wanted, principal=count)
    found = rotation.flat(rotation(wanted.mT.unflatten(1, (4, 3)).mT))
    torch.testing.assert_close(found.abs(), torch.eye(12, dtype=torch.float64)[:count], atol=1e-12, rtol=0)


@pytest.mark.parametrize("count", [1, 4, 12])
def test_it_is_orthogonal_and_back_is_its_inverse(count):
    rotation, c = fitted(directions(count), principal=count), latents()
    turned = rotation(c)
    torch.testing.assert_close(turned.flatten(1) @ turned.flatten(1).mT, c.flatten(1) @ c.flatten(1).mT)
    torch.testing.assert_close(rotation.back(turned), c)


def test_principal_directions_are_spread_over_the_registers():
    wanted = directions(4)
    rotation = fitted(wanted, principal=4)
    found = rotation(wanted.mT.unflatten(1, (4, 3)).mT)
    for number in range(4):
        register, place = number % 3, number // 3
        assert abs(float(found[number, register, place])) == pytest.approx(1)


def test_it_is_the_identity_until_it_is_fitted():
    rotation, c = RegisterRotation(3, 4, principal=5).double(), latents()
    assert torch.equal(rotation(c), c)
    assert torch.equal(rotation.back(c), c)


def test_fewer_directions_than_places_leave_the_rest_unused():
    few, exact = fitted(directions(2), principal=6), fitted(directions(2), principal=2)
    torch.testing.assert_close(few(latents()), exact(latents()))


def test_directions_that_are_axes_already_move_nothing():
    rotation = fitted(torch.eye(12, dtype=torch.float64)[:, :3], principal=3)
    torch.testing.assert_close(rotation(latents()).abs(), latents().abs())


def test_fitting_again_forgets_what_was_before():
    rotation = fitted(directions(6), principal=6)
    rotation.fit(directions(2))
    torch.testing.assert_close(rotation(latents()), fitted(directions(2), principal=2)(latents()))
