"""One ray against one body in plain Python: triangles for polyhedra, candidate points on discs and curved sides for the rest."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from scipy.spatial import ConvexHull

from vitgeom.data.scenes.intersection import Body
from vitgeom.data.scenes.world import ROOM_HALF_WIDTH, ROOM_HEIGHT, World

# The solids again, by the definitions of school geometry.
_SIGNS = [(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
VERTICES = {
    "cube": [tuple(0.68 * c for c in s) for s in _SIGNS],
    "tetrahedron": [tuple(0.78 * c for c in s) for s in _SIGNS if s[0] * s[1] * s[2] > 0],
    "octahedron": [
        tuple(1.1 * sign * (axis == k) for k in range(3)) for axis in range(3) for sign in (-1, 1)
    ],
    "square_pyramid": [(x, y, -0.375) for x in (-0.8, 0.8) for y in (-0.8, 0.8)] + [(0, 0, 1.125)],
    "triangular_prism": [
        (0.95 * math.cos(2 * math.pi * k / 3), 0.95 * math.sin(2 * math.pi * k / 3), z)
        for k in range(3)
        for z in (-0.75, 0.75)
    ],
    "hexagonal_prism": [
        (0.8 * math.cos(math.pi * k / 3), 0.8 * math.sin(math.pi * k / 3), z)
        for k in range(6)
        for z in (-0.75, 0.75)
    ],
}


def hit_scalar(body: Body, origin: np.ndarray, direction: np.ndarray) -> float | None:
    """Smallest positive ray parameter at which the ray meets the surface of the body, or None."""
    o = [float(v) for v in body.rotation.T @ (origin - body.centre) / body.stretch]
    d = [float(v) for v in body.rotation.T @ direction / body.stretch]
    name = body.solid.name
    candidates = _triangles(VERTICES[name], o, d) if name in VERTICES else _curved(name, o, d)
    return min((s for s in candidates if s > 0), default=None)


def trace_scalar(world: World, origin: np.ndarray, direction: np.ndarray) -> tuple[float, int]:
    """Nearest hit of one ray and its instance number; 0 is the room."""
    best, instance = math.inf, 0
    for axis, (low, high) in enumerate([(-ROOM_HALF_WIDTH, ROOM_HALF_WIDTH)] * 2 + [(0.0, ROOM_HEIGHT)]):
        for wall in (low, high):
            if direction[axis] != 0 and (s := (wall - origin[axis]) / direction[axis]) > 0:
                best = min(best, float(s))
    for number, body in enumerate(world.bodies, start=1):
        s = hit_scalar(body, origin, direction)
        if s is not None and s < best:
            best, instance = s, number
    return best, instance


def _triangles(vertices: list[tuple[float, ...]], o: list[float], d: list[float]) -> list[float]:
    hits = []
    for a, b, c in _hull(tuple(vertices)):
        system = np.column_stack([b - a, c - a, -np.array(d)])
        if abs(np.linalg.det(system)) < 1e-14:
            continue
        u, v, s = np.linalg.solve(system, np.array(o) - a)
        if u >= -1e-12 and v >= -1e-12 and u + v <= 1 + 1e-12:
            hits.append(float(s))
    return hits


@lru_cache
def _hull(vertices: tuple[tuple[float, ...], ...]) -> list[np.ndarray]:
    points = np.array(vertices, dtype=float)
    return [points[simplex] for simplex in ConvexHull(points).simplices]


def _curved(name: str, o: list[float], d: list[float]) -> list[float]:
    def at(s: float) -> tuple[float, float, float]:
        return o[0] + s * d[0], o[1] + s * d[1], o[2] + s * d[2]

    def disc(z: float, radius: float) -> list[float]:
        if d[2] == 0:
            return []
        s = (z - o[2]) / d[2]
        x, y, _ = at(s)
        return [s] if x * x + y * y <= radius * radius else []

    def ball(z: float, radius: float) -> list[float]:
        return _roots(
            sum(v * v for v in d),
            2 * (o[0] * d[0] + o[1] * d[1] + (o[2] - z) * d[2]),
            o[0] ** 2 + o[1] ** 2 + (o[2] - z) ** 2 - radius**2,
        )

    if name == "sphere":
        return ball(0.0, 0.9)
    if name == "hemisphere":
        return disc(-0.375, 1.0) + [s for s in ball(-0.375, 1.0) if at(s)[2] >= -0.375]
    if name == "cylinder":
        sides = _roots(d[0] ** 2 + d[1] ** 2, 2 * (o[0] * d[0] + o[1] * d[1]), o[0] ** 2 + o[1] ** 2 - 0.49)
        return disc(0.8, 0.7) + disc(-0.8, 0.7) + [s for s in sides if abs(at(s)[2]) <= 0.8]
    assert name == "cone"
    # Radius shrinks from 0.85 at z = -0.425 to 0 at z = 1.275: x^2 + y^2 = (1.275 - z)^2 / 4.
    below = 1.275 - o[2]
    sides = _roots(
        d[0] ** 2 + d[1] ** 2 - d[2] ** 2 / 4,
        2 * (o[0] * d[0] + o[1] * d[1]) + below * d[2] / 2,
        o[0] ** 2 + o[1] ** 2 - below**2 / 4,
    )
    return disc(-0.425, 0.85) + [s for s in sides if -0.425 <= at(s)[2] <= 1.275]


def _roots(a: float, b: float, c: float) -> list[float]:
    if a == 0:
        return [] if b == 0 else [-c / b]
    inside = b * b - 4 * a * c
    return [] if inside < 0 else [(-b - math.sqrt(inside)) / (2 * a), (-b + math.sqrt(inside)) / (2 * a)]
