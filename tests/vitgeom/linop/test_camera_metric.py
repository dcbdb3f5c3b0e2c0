from __future__ import annotations

import math

import pytest
import torch
from scipy.spatial.transform import Rotation
from torch import Tensor

from tests.contracts.linear_operator import LinearOperatorContract
from vitgeom.errors import InvalidInput, UnknownName
from vitgeom.linop import DenseOperator, JacobianOperator, camera_pose_metric


def drawn(*shape: int, seed: int) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def matrix(operator: DenseOperator) -> Tensor:
    return operator.matmat(torch.eye(operator.shape[1], dtype=operator.dtype))


def angle_between(first: Tensor, second: Tensor) -> Tensor:
    """The rotation vector of R(first)^T R(second), by scipy, which reads scalar-last quaternions of any length."""
    turned = Rotation.from_quat(first.numpy()).inv() * Rotation.from_quat(second.numpy())
    return torch.from_numpy(turned.as_rotvec())


class TestCameraMetric(LinearOperatorContract):
    @pytest.fixture
    def dense(self) -> Tensor:
        blocks = [matrix(camera_pose_metric(pose, rotation=3.0)) for pose in drawn(2, 9, seed=0)]
        return torch.block_diag(*blocks)

    @pytest.fixture(params=[torch.float32, torch.float64])
    def operator(self, request: pytest.FixtureRequest) -> DenseOperator:
        return camera_pose_metric(drawn(2, 9, seed=0).to(request.param), rotation=3.0)


@pytest.mark.parametrize("seed", range(5))
def test_the_rotation_part_is_the_angle_of_a_small_turn(seed: int) -> None:
    pose, change = drawn(9, seed=seed), 1e-6 * drawn(9, seed=100 + seed)
    difference = matrix(camera_pose_metric(pose)) @ change
    wanted = angle_between(pose[3:7], (pose + change)[3:7])
    torch.testing.assert_close(difference[3:6], wanted, rtol=1e-4, atol=1e-11)
    torch.testing.assert_close(difference[:3], change[:3])
    torch.testing.assert_close(difference[6:], change[7:])


@pytest.mark.parametrize("seed", range(3))
def test_a_finite_turn_about_its_own_axis_has_its_own_speed(seed: int) -> None:
    axis, start = torch.nn.functional.normalize(drawn(3, seed=seed), dim=0), drawn(4, seed=50 + seed)

    def turned(theta: Tensor) -> Tensor:
        x, y, z, w = torch.nn.functional.normalize(start, dim=0)
        u, (a, b) = torch.stack([x, y, z]), ((theta / 2).cos(), (theta / 2).sin())
        vector = w * b * axis + a * u + torch.linalg.cross(u, b * axis)
        return torch.cat([vector, (w * a - b * (u @ axis))[None]])

    theta = torch.tensor(0.8, dtype=torch.float64)
    at, speed = turned(theta), 2.5 * torch.autograd.functional.jacobian(turned, theta)
    pose, change = torch.zeros(9, dtype=torch.float64), torch.zeros(9, dtype=torch.float64)
    pose[3:7], change[3:7] = at, speed
    torch.testing.assert_close((matrix(camera_pose_metric(pose)) @ change)[3:6], 2.5 * axis)


@pytest.mark.parametrize("factor", [-1.0, 7.0, -0.1])
def test_length_and_sign_of_the_quaternion_say_nothing(factor: float) -> None:
    pose, change = drawn(9, seed=1), drawn(9, seed=2)
    scaled_pose, scaled_change = pose.clone(), change.clone()
    scaled_pose[3:7] *= factor
    scaled_change[3:7] *= factor
    torch.testing.assert_close(
        matrix(camera_pose_metric(pose)) @ change, matrix(camera_pose_metric(scaled_pose)) @ scaled_change
    )


def test_the_direction_of_the_quaternion_is_the_whole_null_space() -> None:
    pose = drawn(9, seed=3)
    metric = matrix(camera_pose_metric(pose))
    radial = torch.zeros(9, dtype=torch.float64)
    radial[3:7] = pose[3:7]
    assert float((metric @ radial).norm()) < 1e-14
    sigma = torch.linalg.svdvals(metric)
    assert metric.shape == (8, 9)
    assert float(sigma[-1]) > 0.1
    turning = torch.linalg.svdvals(metric[3:6, 3:7])
    torch.testing.assert_close(turning, torch.full((3,), 2 / float(pose[3:7].norm()), dtype=torch.float64))


def test_both_orders_are_one_metric() -> None:
    last = drawn(9, seed=4)
    order = [0, 1, 2, 6, 3, 4, 5, 7, 8]
    first = last[order]
    torch.testing.assert_close(
        matrix(camera_pose_metric(first, quaternion="wxyz")), matrix(camera_pose_metric(last))[:, order]
    )


def test_the_identity_turns_by_twice_the_vector_part() -> None:
    pose = torch.tensor([0, 0, 0, 0, 0, 0, 1, 1, 1], dtype=torch.float64)
    wanted = torch.cat([2 * torch.eye(3), torch.zeros(3, 1)], dim=1).double()
    assert torch.equal(matrix(camera_pose_metric(pose))[3:6, 3:7], wanted)


def test_weights_multiply_their_part() -> None:
    pose, change = drawn(9, seed=5), drawn(9, seed=6)
    plain = matrix(camera_pose_metric(pose)) @ change
    weighted = matrix(camera_pose_metric(pose, translation=2.0, rotation=0.0, fov=0.5)) @ change
    torch.testing.assert_close(weighted, plain * torch.tensor([2.0] * 3 + [0.0] * 3 + [0.5] * 2).double())


def test_a_head_that_gives_longer_quaternions_has_the_same_jacobian() -> None:
    head, features = drawn(9, 12, seed=7), drawn(3, 4, seed=8)
    stretch = torch.tensor([1.0] * 3 + [4.0] * 4 + [1.0] * 2).double()

    def operator(factor: Tensor) -> JacobianOperator:
        def decoder(f: Tensor) -> Tensor:
            return factor * (head @ f.flatten())

        return JacobianOperator(decoder, features, output_metric=camera_pose_metric(decoder(features)))

    v = drawn(12, 3, seed=9)
    torch.testing.assert_close(operator(stretch).matmat(v), operator(torch.ones(9).double()).matmat(v))


@pytest.mark.parametrize("shape", [(8,), (0, 9), (1, 1, 9)])
def test_other_shapes_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(InvalidInput, match=r"poses must be \[9\] or \[C, 9\] \(translation 3"):
        camera_pose_metric(torch.ones(shape))


@pytest.mark.parametrize("poses", [[1.0] * 9, torch.ones(9, dtype=torch.float16)])
def test_other_kinds_are_refused(poses: object) -> None:
    with pytest.raises(InvalidInput, match="must be a float32 or float64 tensor"):
        camera_pose_metric(poses)


@pytest.mark.parametrize("entry", [0.0, math.nan])
def test_a_pose_without_rotation_is_named(entry: float) -> None:
    poses = torch.ones(3, 9)
    poses[1, 3:7] = entry
    with pytest.raises(InvalidInput, match="pose of camera 1 is not finite or has a quaternion of length 0"):
        camera_pose_metric(poses)


@pytest.mark.parametrize("weight", [-1.0, math.inf])
def test_weights_that_are_none_are_refused(weight: float) -> None:
    with pytest.raises(InvalidInput, match=r"rotation=.* must be a finite weight >= 0"):
        camera_pose_metric(torch.ones(9), rotation=weight)


def test_another_order_is_refused() -> None:
    with pytest.raises(UnknownName, match=r"unknown order of the quaternion 'xyz'. Did you mean 'xyzw'"):
        camera_pose_metric(torch.ones(9), quaternion="xyz")
