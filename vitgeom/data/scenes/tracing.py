"""The first thing that each ray meets, and how it is lit. Arrays of points are [3, N]."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vitgeom.data.scenes.difficulty import Difficulty
from vitgeom.data.scenes.intersection import intersect, near
from vitgeom.data.scenes.world import ROOM_HALF_WIDTH, ROOM_HEIGHT, World

# Shadow rays start this far off a surface, so that rounding does not let it shade itself.
_LIFT = 1e-6


@dataclass(frozen=True, eq=False)
class Hits:
    """What rays meet first; in a closed room every ray meets something.

    Attributes:
        distance: [N] ray parameter.
        points: [3, N] world.
        normals: [3, N] unit, towards the side that the ray comes from.
        instances: [N] 0 for the room, k for body k - 1.
    """

    distance: np.ndarray
    points: np.ndarray
    normals: np.ndarray
    instances: np.ndarray


def trace(world: World, origin: np.ndarray, directions: np.ndarray) -> Hits:
    """Follow rays from one origin [3] inside the room, along directions [3, N]."""
    distance, normals = _leave_room(origin, directions)
    instances = np.zeros(directions.shape[1], dtype=np.int64)
    start = origin[:, None]
    pending = []
    for number, body in enumerate(world.bodies, start=1):
        rays = near(body, start, directions)
        enter, leave, faces = intersect(body, start, directions[:, rays])
        seen = (enter <= leave) & (enter > 0) & (enter < distance[rays])
        rays, faces = rays[seen], faces[seen]
        distance[rays], instances[rays] = enter[seen], number
        pending.append((number, body, rays, faces))
    points = start + distance * directions
    for number, body, rays, faces in pending:
        kept = instances[rays] == number
        rays = rays[kept]
        normals[:, rays] = body.normals(points[:, rays], faces[kept])
    return Hits(distance, points, normals, instances)


def _leave_room(origin: np.ndarray, directions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return where rays meet the room from inside, [N], and the inward normals, [3, N]."""
    low = np.array([-ROOM_HALF_WIDTH, -ROOM_HALF_WIDTH, 0.0])
    high = np.array([ROOM_HALF_WIDTH, ROOM_HALF_WIDTH, ROOM_HEIGHT])
    safe = np.where(directions == 0, 1e-12, directions)
    wall = np.where(safe > 0, (high - origin)[:, None], (low - origin)[:, None])
    crossing = wall / safe
    axis = crossing.argmin(axis=0)
    rays = np.arange(directions.shape[1])
    normals = np.zeros_like(directions)
    normals[axis, rays] = -np.sign(safe[axis, rays])
    return crossing[axis, rays], normals


def colours(world: World, hits: Hits, viewer: np.ndarray, *, difficulty: Difficulty) -> np.ndarray:
    """Return linear RGB [3, N]: Lambert's cosine law, a Blinn-Phong highlight, and cast shadows of one point light."""
    albedo, highlight = _surface(world, hits)
    to_lamp = world.lamp[:, None] - hits.points
    to_lamp /= np.sqrt((to_lamp**2).sum(axis=0))
    cosine = np.maximum((hits.normals * to_lamp).sum(axis=0), 0.0)
    lit = cosine * ~_shadowed(world, hits, cosine > 0)
    to_viewer = viewer[:, None] - hits.points
    half = to_lamp + to_viewer / np.sqrt((to_viewer**2).sum(axis=0))
    half /= np.sqrt((half**2).sum(axis=0)) + 1e-12
    mirror = highlight * np.maximum((hits.normals * half).sum(axis=0), 0.0) ** 24 * (lit > 0)
    sky = difficulty.ambient * (0.75 + 0.25 * hits.normals[2])
    return albedo * (sky + (1 - difficulty.ambient) * lit) + mirror


def _surface(world: World, hits: Hits) -> tuple[np.ndarray, np.ndarray]:
    """Return the albedo [3, N] and the strength of the highlight [N]."""
    albedo, highlight = np.empty_like(hits.points), np.zeros(hits.points.shape[1])
    room = hits.instances == 0
    floor = room & (hits.normals[2] > 0.5)
    for rays, texture in ((floor, world.floor), (room & ~floor, world.walls)):
        albedo[:, rays] = texture.at(hits.points[:, rays])
    for number, (body, texture) in enumerate(zip(world.bodies, world.textures, strict=True), start=1):
        rays = np.flatnonzero(hits.instances == number)
        albedo[:, rays] = texture.at(body.to_local(hits.points[:, rays]))
        highlight[rays] = world.highlights[number - 1]
    return albedo, highlight


def _shadowed(world: World, hits: Hits, facing: np.ndarray) -> np.ndarray:
    """Return which points [N] have a body between them and the lamp; asked only for those that face it."""
    shadow = np.zeros(len(facing), dtype=bool)
    open_rays = np.flatnonzero(facing)
    origins = hits.points[:, open_rays] + _LIFT * hits.normals[:, open_rays]
    directions = world.lamp[:, None] - origins
    for body in world.bodies:
        rays = near(body, origins, directions)
        enter, leave, _ = intersect(body, origins[:, rays], directions[:, rays])
        shadow[open_rays[rays]] |= (enter <= leave) & (enter > 0) & (enter < 1)
    return shadow
