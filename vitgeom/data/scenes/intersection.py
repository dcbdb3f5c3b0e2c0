"""Where rays enter and leave convex bodies, in closed form and for many rays at once.

A ray is o + s d; all rays of one call start at one point o (the camera or the lamp). The half-spaces and the quadric each cut an
interval of s out of a ray; the body is hit where their intersection is not empty. Legend: N rays, F half-spaces; arrays of points are
[3, N].
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vitgeom.data.scenes.arrays import Chosen, Matrix, PerRay, PerRayNumber, Points, Vector
from vitgeom.data.scenes.solids import Quadric, Solid

# Stands in for a direction parallel to a face: the crossing moves out of any scene, to the correct side.
_PARALLEL = 1e-12


@dataclass(frozen=True, eq=False)
class Body:
    """A solid, stretched along its local axes, turned, and put somewhere.

    Attributes:
        solid: The shape in its local frame.
        centre: [3] world position of the local origin.
        rotation: [3, 3] local to world.
        stretch: [3] factors along the local axes, > 0.
    """

    solid: Solid
    centre: Vector
    rotation: Matrix
    stretch: Vector

    @property
    def reach(self) -> float:
        """Radius of a ball about ``centre`` that holds the body."""
        return self.solid.reach * float(self.stretch.max())

    def to_local(self, points: Points) -> Points:
        """Return local coordinates [3, N] of world points [3, N]."""
        return (self.rotation.T @ (points - self.centre[:, None])) / self.stretch[:, None]

    def normals(self, points: Points, faces: PerRayNumber) -> Points:
        """Return outward unit normals [3, N] at surface points [3, N]; ``faces`` [N] as from ``intersect``."""
        solid = self.solid
        if solid.quadric is None:
            local = solid.normals[faces].T
        else:
            slope = solid.quadric.squares[:, None] * self.to_local(points) + solid.quadric.linear[:, None]
            flat = np.append(solid.normals, np.zeros((1, 3)), axis=0)[faces].T
            local = np.where(faces < len(solid.offsets), flat, slope)
        world = self.rotation @ (local / self.stretch[:, None])
        return world / np.sqrt((world**2).sum(axis=0))

    def support(self, direction: Vector) -> float:
        """Return the largest value of direction.x over the body, for a world direction [3]."""
        return float(direction @ self.centre) + self.solid.support(
            self.stretch * (self.rotation.T @ direction)
        )


def near(body: Body, origin: Vector, directions: Points, squared_lengths: PerRay) -> Chosen:
    """Return the numbers of the rays that pass the body's ball; the others cannot hit it.

    Args:
        body: The body; the origin lies outside its ball.
        origin: [3].
        directions: [3, N].
        squared_lengths: [N] of the directions.
    """
    offset = body.centre - origin
    along = offset @ directions
    return np.flatnonzero(
        (along > 0) & (along * along >= (offset @ offset - body.reach**2) * squared_lengths)
    )


def intersect(body: Body, origin: Vector, directions: Points) -> tuple[PerRay, PerRay, PerRayNumber]:
    """Return where rays enter and leave a body.

    Cost: O(N F). Exact up to rounding; no iteration.

    Args:
        body: The body.
        origin: [3], of all rays.
        directions: [3, N], any length.

    Returns:
        Ray parameters ``enter`` [N] and ``leave`` [N] (enter > leave: missed), and the number of the half-space through which
        the ray enters [N] (F stands for the quadric).
    """
    solid = body.solid
    o = body.to_local(origin[:, None])[:, 0]
    d = (body.rotation.T @ directions) / body.stretch[:, None]
    enter, leave, faces = _cross_planes(solid, o, d)
    if solid.quadric is not None:
        start, stop = _cross_quadric(solid.quadric, o, d)
        faces = np.where(start > enter, len(solid.offsets), faces)
        enter, leave = np.maximum(enter, start), np.minimum(leave, stop)
    return enter, leave, faces


def _cross_planes(solid: Solid, o: Vector, d: Points) -> tuple[PerRay, PerRay, PerRayNumber]:
    count = d.shape[1]
    if not len(solid.offsets):
        return np.full(count, -np.inf), np.full(count, np.inf), np.zeros(count, dtype=np.int64)
    speed = solid.normals @ d
    speed[np.abs(speed) < _PARALLEL] = _PARALLEL
    crossing = (solid.offsets - solid.normals @ o)[:, None] / speed
    entering = np.where(speed < 0, crossing, -np.inf)
    faces = entering.argmax(axis=0)
    enter = entering[faces, np.arange(count)]
    leave = np.where(speed > 0, crossing, np.inf).min(axis=0)
    return enter, leave, faces


def _cross_quadric(quadric: Quadric, o: Vector, d: Points) -> tuple[PerRay, PerRay]:
    """Solve a s^2 + 2 b s + c <= 0 for s; where a < 0 (inside a double cone) keep the half below the apex."""
    a = quadric.squares @ (d * d)
    b = (quadric.squares * o + quadric.linear) @ d
    c = float(quadric.squares @ (o * o) + 2 * (quadric.linear @ o) + quadric.constant)
    a[np.abs(a) < _PARALLEL] = _PARALLEL
    discriminant = b * b - a * c
    missed = discriminant < 0
    # The root without cancellation first, the other from the product of roots c / a.
    q = -(b + np.copysign(np.sqrt(np.maximum(discriminant, 0)), b))
    first, second = q / a, np.divide(c, q, out=np.zeros_like(q), where=q != 0)
    low, high = np.minimum(first, second), np.maximum(first, second)
    downwards = d[2] < 0
    start = np.where(a > 0, low, np.where(downwards, high, -np.inf))
    stop = np.where(a > 0, high, np.where(downwards, np.inf, low))
    return np.where(missed, np.inf, start), np.where(missed, -np.inf, stop)
