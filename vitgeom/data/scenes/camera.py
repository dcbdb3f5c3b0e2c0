"""Pinhole camera: rays, projection and unprojection.

Axes of the camera are x right, y down, z forward; the world has z up. A world point X has camera coordinates R X + t. The centre of the
pixel in row i and column j is (u, v) = (j + 0.5, i + 0.5). Arrays of points are component-first, [3, N], inside this package.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vitgeom.data.scenes.arrays import ImagePoints, Matrix, Points, Vector
from vitgeom.errors import InvalidInput


@dataclass(frozen=True)
class Camera:
    """Intrinsics and pose.

    Attributes:
        intrinsics: K [3, 3], pixels.
        rotation: R [3, 3], world to camera, det R = 1.
        translation: t [3], scene units.
        size: Height and width of the image in pixels.
    """

    intrinsics: Matrix
    rotation: Matrix
    translation: Vector
    size: int

    @property
    def position(self) -> Vector:
        """The centre of projection in the world, -R^T t, [3]."""
        return -self.rotation.T @ self.translation

    def directions(self, uv: ImagePoints) -> Points:
        """Return world directions [3, N] of the rays through image points uv [2, N].

        They are scaled to z = 1 in the camera frame, so that the ray parameter is the z-depth.
        """
        focal, middle = self.intrinsics[[0, 1], [0, 1]], self.intrinsics[:2, 2]
        in_plane = (uv - middle[:, None]) / focal[:, None]
        return self.rotation[:2].T @ in_plane + self.rotation[2][:, None]

    def project(self, points: Points) -> ImagePoints:
        """Return image points [2, N] of world points [3, N] that lie in front of the camera."""
        in_camera = self.rotation @ points + self.translation[:, None]
        on_image = self.intrinsics @ in_camera
        return on_image[:2] / on_image[2]

    def pixel_centres(self) -> ImagePoints:
        """Return (u, v) of all pixel centres, [2, size * size], row by row."""
        rows, columns = np.divmod(np.arange(self.size * self.size), self.size)
        return np.stack([columns + 0.5, rows + 0.5])


def look_at(position: Vector, aim: Vector, *, roll: float, field_of_view: float, size: int) -> Camera:
    """Build a camera at ``position`` whose axis passes through ``aim``.

    Args:
        position: World point [3].
        aim: World point [3], not straight above or below.
        roll: Turn about the optical axis, radians; 0 keeps the horizon level.
        field_of_view: Full angle across the image, radians.
        size: Height and width in pixels.

    Raises:
        InvalidInput: The aim is at the position or straight above or below it.
    """
    forward = aim - position
    right = np.array([forward[1], -forward[0], 0.0])
    length = np.hypot(right[0], right[1])
    if length < 1e-9:
        raise InvalidInput(
            f"aim {aim.tolist()} is straight above or below position {position.tolist()}; move one sideways."
        )
    forward = forward / np.sqrt(forward @ forward)
    right = right / length
    down = _cross(forward, right)
    level = np.stack([right, down, forward])
    cos, sin = np.cos(roll), np.sin(roll)
    rotation = np.array([[cos, sin, 0.0], [-sin, cos, 0.0], [0.0, 0.0, 1.0]]) @ level
    focal = size / (2 * np.tan(field_of_view / 2))
    intrinsics = np.array([[focal, 0.0, size / 2], [0.0, focal, size / 2], [0.0, 0.0, 1.0]])
    return Camera(intrinsics, rotation, -rotation @ position, size)


def _cross(a: Vector, b: Vector) -> Vector:
    """Cross product of two vectors [3]; ``numpy.cross`` takes longer than all the rest of ``look_at``."""
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])
