"""Differences of camera poses as a translation, a rotation and a change of view, instead of nine unlike numbers.

A camera head gives t (3), a quaternion q of any length (4) and two fields of view. Only q / |q| is a rotation, q and -q are the same one, and its
error is an angle. With u the vector and w the scalar part of q / |q|, a small change dq turns the camera by the body angular velocity

    omega = (2 / |q|) (w du - dw u - u x du),

the logarithm of R(q)^T R(q + dq) to first order (Sola 2017, "Quaternion kinematics for the error-state Kalman filter"). |omega| is the
angle in radians, and a dq along q does nothing.   C = cameras.
"""

from __future__ import annotations

import math
from typing import Literal, get_args

import torch
from torch import Tensor

from vitgeom.errors import InvalidInput, UnknownName
from vitgeom.linop.dense import DenseOperator
from vitgeom.linop.features import DTYPES

Order = Literal["xyzw", "wxyz"]
OUTPUTS, DIFFERENCES = 9, 8


def camera_pose_metric(
    poses: object,
    *,
    quaternion: str = "xyzw",
    translation: float = 1.0,
    rotation: float = 1.0,
    fov: float = 1.0,
) -> DenseOperator:
    """Return L, [8 C, 9 C], with |L dy|^2 = sum over cameras of (a |dt|)^2 + (b angle)^2 + (c |dfov|)^2 to first order.

    For ``output_metric`` of a Jacobian at exactly these poses: L depends on the rotation. Each camera's block has rank 8 (if no weight is
    zero), and its null space is the direction of q.

    Args:
        poses: The decoder's output at the features, [9] or [C, 9]: translation (3), quaternion (4), field of view (2).
        quaternion: Order of its entries: "xyzw" (scalar last, as VGGT writes them) or "wxyz".
        translation: a, per unit of length of the scene.
        rotation: b, per radian.
        fov: c, per unit of the field of view.

    Returns:
        L in the dtype and on the device of the poses. Rows of a camera: translation (3), rotation in its own axes (3), field of view (2).

    Raises:
        UnknownName: Another order.
        InvalidInput: No such poses, a quaternion of length 0, or a weight that is negative or not finite.
    """
    if quaternion not in get_args(Order):
        raise UnknownName("order of the quaternion", quaternion, get_args(Order))
    for name, weight in (("translation", translation), ("rotation", rotation), ("fov", fov)):
        if not math.isfinite(weight) or weight < 0:
            raise InvalidInput(f"{name}={weight!r} must be a finite weight >= 0.")
    blocks = [
        _one_camera(pose, scalar_first=quaternion == "wxyz", weights=(translation, rotation, fov))
        for pose in _check_poses(poses)
    ]
    return DenseOperator(torch.block_diag(*blocks))


def angular_velocity(q_xyzw: Tensor) -> Tensor:
    """Return the [3, 4] matrix that takes a change of a quaternion to the body angular velocity in radians.

    Args:
        q_xyzw: [4], scalar last, of any length but 0.
    """
    length = q_xyzw.norm()
    x, y, z, w = (q_xyzw / length).unbind()
    rows = [torch.stack([w, z, -y, -x]), torch.stack([-z, w, x, -y]), torch.stack([y, -x, w, -z])]
    return 2 / length * torch.stack(rows)


def _one_camera(pose: Tensor, *, scalar_first: bool, weights: tuple[float, float, float]) -> Tensor:
    translation, rotation, fov = weights
    metric = pose.new_zeros(DIFFERENCES, OUTPUTS)
    metric[0:3, 0:3] = translation * torch.eye(3, dtype=pose.dtype, device=pose.device)
    stored = pose[3:7]
    turned = angular_velocity(stored.roll(-1) if scalar_first else stored)
    metric[3:6, 3:7] = rotation * (turned.roll(1, dims=1) if scalar_first else turned)
    metric[6:8, 7:9] = fov * torch.eye(2, dtype=pose.dtype, device=pose.device)
    return metric


def _check_poses(poses: object) -> Tensor:
    if not isinstance(poses, Tensor) or poses.dtype not in DTYPES:
        found = poses.dtype if isinstance(poses, Tensor) else type(poses).__name__
        raise InvalidInput(f"poses must be a float32 or float64 tensor [9] or [C, 9], got {found}.")
    if poses.ndim not in (1, 2) or poses.shape[-1] != OUTPUTS or not poses.numel():
        raise InvalidInput(
            f"poses must be [9] or [C, 9] (translation 3, quaternion 4, field of view 2), got {list(poses.shape)}."
        )
    cameras = poses.detach().reshape(-1, OUTPUTS)
    bad = ~cameras.isfinite().all(dim=1) | (cameras[:, 3:7].norm(dim=1) == 0)
    if bool(bad.any()):
        raise InvalidInput(
            f"pose of camera {int(bad.nonzero()[0])} is not finite or has a quaternion of length 0, which is no rotation. Leave it out."
        )
    return cameras
