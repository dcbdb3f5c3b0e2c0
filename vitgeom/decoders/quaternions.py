"""Rotations as unit quaternions with the scalar last.   B = any leading shape."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor


def as_matrix(quaternion: Float[Tensor, "*b 4"]) -> Float[Tensor, "*b 3 3"]:
    """Return the rotation matrix of a quaternion of any length but 0; q and -q give the same one.

    Args:
        quaternion: (x, y, z, w).
    """
    x, y, z, w = quaternion.unbind(-1)
    s = 2 / quaternion.square().sum(-1)
    rows = [
        [1 - s * (y * y + z * z), s * (x * y - z * w), s * (x * z + y * w)],
        [s * (x * y + z * w), 1 - s * (x * x + z * z), s * (y * z - x * w)],
        [s * (x * z - y * w), s * (y * z + x * w), 1 - s * (x * x + y * y)],
    ]
    return torch.stack([torch.stack(row, -1) for row in rows], -2)


def from_matrix(rotation: Float[Tensor, "*b 3 3"]) -> Float[Tensor, "*b 4"]:
    """Return the unit quaternion of a rotation matrix, scalar >= 0.

    It is the leading eigenvector of a symmetric 4 x 4 matrix (I. Bar-Itzhack 2000), so no case of small divisors arises.

    Args:
        rotation: R with det R = 1.
    """
    r = rotation
    xx, yy, zz = r[..., 0, 0], r[..., 1, 1], r[..., 2, 2]
    xy, xz, yz = r[..., 0, 1] + r[..., 1, 0], r[..., 0, 2] + r[..., 2, 0], r[..., 1, 2] + r[..., 2, 1]
    wx, wy, wz = r[..., 2, 1] - r[..., 1, 2], r[..., 0, 2] - r[..., 2, 0], r[..., 1, 0] - r[..., 0, 1]
    rows = [
        [xx - yy - zz, xy, xz, wx],
        [xy, yy - xx - zz, yz, wy],
        [xz, yz, zz - xx - yy, wz],
        [wx, wy, wz, xx + yy + zz],
    ]
    symmetric = torch.stack([torch.stack(row, -1) for row in rows], -2) / 3
    leading = torch.linalg.eigh(symmetric).eigenvectors[..., -1]
    return leading * torch.where(leading[..., 3:] < 0, -1.0, 1.0)


def angle_between(first: Float[Tensor, "*b 4"], second: Float[Tensor, "*b 4"]) -> Float[Tensor, "*b"]:
    """Return the angle in radians of the rotation that leads from one orientation to the other, 0..pi.

    Args:
        first: Unit quaternions.
        second: Unit quaternions.
    """
    # 2 atan2(|p - q|, |p + q|) for the nearer sign of q: exact for small angles, where the arc cosine is not.
    near = torch.where((first * second).sum(-1, keepdim=True) < 0, -second, second)
    return 4 * torch.atan2((first - near).norm(dim=-1), (first + near).norm(dim=-1))
