"""The ten solids: convex sets given by half-spaces n.x <= b and at most one quadric.

A quadric is x^T diag(q) x + 2 l.x + c <= 0: a ball, a cylinder, or the cone below its apex. Each solid has a local frame whose origin
lies inside; lengths are in scene units and chosen so that the silhouettes cover similar areas.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from jaxtyping import Float

from vitgeom.data.scenes.arrays import Vector


@dataclass(frozen=True)
class Quadric:
    """The set x^T diag(squares) x + 2 linear.x + constant <= 0."""

    squares: Vector
    linear: Vector
    constant: float


@dataclass(frozen=True, eq=False)
class Solid:
    """A convex body in its local frame.

    Attributes:
        name: The class name.
        normals: [F, 3] outward unit normals of the half-spaces.
        offsets: [F]; a point x is inside when normals @ x <= offsets.
        quadric: One more bound, or None.
        support: Direction u [3] -> max over the body of u.x.
        reach: Radius of the smallest ball about the origin that holds the body.
    """

    name: str
    normals: Float[np.ndarray, "faces 3"]
    offsets: Float[np.ndarray, " faces"]
    quadric: Quadric | None
    support: Callable[[Vector], float]
    reach: float


def halfspaces(
    vertices: Float[np.ndarray, "vertices 3"],
) -> tuple[Float[np.ndarray, "faces 3"], Float[np.ndarray, " faces"]]:
    """Return outward normals [F, 3] and offsets [F] of the convex hull of vertices [V, 3] around the origin.

    Tries every plane through three vertices, O(V^4): for a handful of vertices, at import.
    """
    found: list[tuple[np.ndarray, float]] = []
    for triple in combinations(vertices, 3):
        normal = np.cross(triple[1] - triple[0], triple[2] - triple[0])
        length = np.sqrt(normal @ normal)
        if length < 1e-9:
            continue
        normal = normal / length
        offset = float(normal @ triple[0])
        normal, offset = (-normal, -offset) if offset < 0 else (normal, offset)
        known = any(abs(normal @ other - 1) < 1e-9 for other, _ in found)
        if not known and (vertices @ normal).max() <= offset + 1e-9:
            found.append((normal, offset))
    return np.stack([normal for normal, _ in found]), np.array([offset for _, offset in found])


def _polyhedron(name: str, vertices: Float[np.ndarray, "vertices 3"]) -> Solid:
    normals, offsets = halfspaces(vertices)
    reach = float(np.sqrt((vertices**2).sum(axis=1).max()))
    return Solid(name, normals, offsets, None, lambda u: float((vertices @ u).max()), reach)


def _prism(name: str, *, sides: int, radius: float, half_height: float) -> Solid:
    angles = 2 * np.pi * np.arange(sides) / sides
    ring = np.stack([radius * np.cos(angles), radius * np.sin(angles)], axis=1)
    ends = [np.column_stack([ring, np.full(sides, z)]) for z in (-half_height, half_height)]
    return _polyhedron(name, np.concatenate(ends))


def _square_pyramid(*, half_side: float, height: float) -> Solid:
    base = [(x, y, -height / 4) for x in (-half_side, half_side) for y in (-half_side, half_side)]
    return _polyhedron("square_pyramid", np.array([*base, (0.0, 0.0, 3 * height / 4)]))


def _sphere(*, radius: float) -> Solid:
    ball = Quadric(np.ones(3), np.zeros(3), -(radius**2))
    return Solid(
        "sphere", np.zeros((0, 3)), np.zeros(0), ball, lambda u: radius * float(np.sqrt(u @ u)), radius
    )


def _hemisphere(*, radius: float) -> Solid:
    drop = 3 * radius / 8  # the centroid lies this far above the flat side
    ball = Quadric(np.ones(3), np.array([0.0, 0.0, drop]), drop**2 - radius**2)

    def support(u: Vector) -> float:
        width = np.sqrt(u @ u) if u[2] > 0 else np.hypot(u[0], u[1])
        return float(radius * width - drop * u[2])

    flat = np.array([[0.0, 0.0, -1.0]])
    return Solid("hemisphere", flat, np.array([drop]), ball, support, float(np.hypot(radius, drop)))


def _cylinder(*, radius: float, half_height: float) -> Solid:
    side = Quadric(np.array([1.0, 1.0, 0.0]), np.zeros(3), -(radius**2))
    ends = np.array([[0.0, 0.0, 1.0], [0.0, 0.0, -1.0]])

    def support(u: Vector) -> float:
        return float(radius * np.hypot(u[0], u[1]) + half_height * abs(u[2]))

    return Solid(
        "cylinder", ends, np.full(2, half_height), side, support, float(np.hypot(radius, half_height))
    )


def _cone(*, radius: float, height: float) -> Solid:
    top, bottom, slope = 3 * height / 4, height / 4, radius / height
    side = Quadric(
        np.array([1.0, 1.0, -(slope**2)]), np.array([0.0, 0.0, slope**2 * top]), -((slope * top) ** 2)
    )
    ends = np.array(
        [[0.0, 0.0, 1.0], [0.0, 0.0, -1.0]]
    )  # the first only cuts off the mirrored cone above the apex

    def support(u: Vector) -> float:
        return float(max(top * u[2], radius * np.hypot(u[0], u[1]) - bottom * u[2]))

    return Solid(
        "cone", ends, np.array([top, bottom]), side, support, float(max(top, np.hypot(radius, bottom)))
    )


_SIGNS = np.array([(x, y, z) for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])
_TETRAHEDRON = _SIGNS[_SIGNS.prod(axis=1) > 0]
_AXES = np.concatenate([np.eye(3), -np.eye(3)])

SOLIDS: tuple[Solid, ...] = (
    _sphere(radius=0.9),
    _hemisphere(radius=1.0),
    _cylinder(radius=0.7, half_height=0.8),
    _cone(radius=0.85, height=1.7),
    _polyhedron("cube", 0.68 * _SIGNS),
    _polyhedron("tetrahedron", 0.78 * _TETRAHEDRON),
    _polyhedron("octahedron", 1.1 * _AXES),
    _square_pyramid(half_side=0.8, height=1.5),
    _prism("triangular_prism", sides=3, radius=0.95, half_height=0.75),
    _prism("hexagonal_prism", sides=6, radius=0.8, half_height=0.75),
)
CLASSES: tuple[str, ...] = tuple(solid.name for solid in SOLIDS)
