from __future__ import annotations

import math

import pytest
import torch
from scipy.spatial.transform import Rotation

from vitgeom.decoders.quaternions import angle_between, as_matrix, from_matrix
from vitgeom.seeding import generator_for


@pytest.fixture
def quaternions():
    drawn = torch.randn(50, 4, generator=generator_for(0, "quaternions"), dtype=torch.float64)
    return drawn / drawn.norm(dim=1, keepdim=True)


def test_both_ways_agree_with_scipy_scalar_last(quaternions):
    theirs = Rotation.from_quat(quaternions.numpy())
    matrices = as_matrix(quaternions)
    torch.testing.assert_close(matrices, torch.from_numpy(theirs.as_matrix()))
    torch.testing.assert_close(
        from_matrix(matrices), torch.from_numpy(theirs.as_quat(canonical=True)), rtol=1e-9, atol=1e-12
    )


def test_half_turns_are_no_special_case():
    for axis in torch.eye(3, dtype=torch.float64):
        half_turn = 2 * torch.outer(axis, axis) - torch.eye(3, dtype=torch.float64)
        torch.testing.assert_close(as_matrix(from_matrix(half_turn)), half_turn)


def test_the_length_and_the_sign_of_a_quaternion_do_not_matter(quaternions):
    torch.testing.assert_close(as_matrix(-3 * quaternions), as_matrix(quaternions))
    torch.testing.assert_close(angle_between(quaternions, -quaternions), torch.zeros(50, dtype=torch.float64))


@pytest.mark.parametrize("angle", [1e-9, 0.3, 2.0, math.pi])
def test_the_angle_is_that_of_the_relative_rotation(quaternions, angle):
    turn = Rotation.from_rotvec([0.0, angle, 0.0])
    turned = torch.from_numpy((turn * Rotation.from_quat(quaternions.numpy())).as_quat())
    expected = torch.full((50,), angle, dtype=torch.float64)
    torch.testing.assert_close(angle_between(quaternions, turned), expected, rtol=1e-6, atol=1e-14)
