"""The first thing that each ray meets, and how it is lit. Arrays of points are [3, N]."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vitgeom.data.scenes.arrays import Chosen, PerRay, PerRayMask, PerRayNumber, Points, Vector
from vitgeom.data.scenes.difficulty import Difficulty
from vitgeom.data.scenes.intersection import intersect, near
from vitgeom.data.scenes.world import ROOM_HALF_WIDTH, ROOM_HEIGHT, World


@dataclass(frozen=True, eq=False)
class Hits:
    """What rays meet first; in a closed room every ray meets something.

    Attributes:
        distance: [N] ray parameter.
        points: [3, N] world.
        normals: [3, N] unit, towards the side that the ray comes from.
        instances: [N] 0 for the room, k for body k - 1.
    """

    distance: PerRay
    points: Points
    normals: Points
    instances: PerRayNumber

    def take(self, rays: Chosen) -> Hits:
        """Return some of the hits."""
        points, normals = self.points.take(rays, axis=1), self.normals.take(rays, axis=1)
        return Hits(self.distance[rays], points, normals, self.instances[rays])


def join(first: Hits, second: Hits) -> Hits:
    """Return the hits of both, in order."""
    return Hits(
        np.concatenate([first.distance, second.distance]),
        np.concatenate([first.points, second.points], axis=1),
        np.concatenate([first.normals, second.normals], axis=1),
        np.concatenate([first.instances, second.instances]),
    )


def trace(world: World, origin: Vector, directions: Points) -> Hits:
    """Follow rays from one origin [3] inside the room, along directions [3, N]."""
    distance, normals = _leave_room(origin, directions)
    instances = np.zeros(directions.shape[1], dtype=np.int64)
    squared_lengths = np.einsum("ij,ij->j", directions, directions)
    pending = []
    for number, body in enumerate(world.bodies, start=1):
        rays = near(body, origin, directions, squared_lengths)
        enter, leave, faces = intersect(body, origin, directions.take(rays, axis=1))
        seen = np.flatnonzero((enter <= leave) & (enter > 0) & (enter < distance[rays]))
        rays = rays[seen]
        distance[rays], instances[rays] = enter[seen], number
        pending.append((number, body, rays, faces[seen]))
    points = origin[:, None] + distance * directions
    for number, body, rays, faces in pending:
        kept = instances[rays] == number  # not covered by a nearer body since
        rays = rays[kept]
        normals[:, rays] = body.normals(points.take(rays, axis=1), faces[kept])
    return Hits(distance, points, normals, instances)


def _leave_room(origin: Vector, directions: Points) -> tuple[PerRay, Points]:
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


def colours(world: World, hits: Hits, viewer: Vector, *, difficulty: Difficulty) -> Points:
    """Return linear RGB [3, N]: Lambert's cosine law, a Blinn-Phong highlight, and cast shadows of one point light."""
    albedo, highlight = _surface(world, hits)
    to_lamp = _unit(world.lamp[:, None] - hits.points)
    cosine = np.maximum(np.einsum("ij,ij->j", hits.normals, to_lamp), 0.0)
    cosine[_shadowed(world, hits)] = 0.0
    shade = difficulty.ambient * (0.75 + 0.25 * hits.normals[2]) + (1 - difficulty.ambient) * cosine
    light = albedo * shade
    shiny = np.flatnonzero((highlight > 0) & (cosine > 0))
    half = _unit(to_lamp.take(shiny, axis=1) + _unit(viewer[:, None] - hits.points.take(shiny, axis=1)))
    light[:, shiny] += highlight[shiny] * np.einsum("ij,ij->j", hits.normals.take(shiny, axis=1), half) ** 24
    return light


def _unit(vectors: Points) -> Points:
    """Scale vectors [3, N], none of them zero, to length 1."""
    return vectors / np.sqrt(np.einsum("ij,ij->j", vectors, vectors))


def _surface(world: World, hits: Hits) -> tuple[Points, PerRay]:
    """Return the albedo [3, N] and the strength of the highlight [N]."""
    albedo, highlight = np.empty_like(hits.points), np.zeros(hits.points.shape[1])
    room = hits.instances == 0
    floor = hits.normals[2] > 0.5
    for rays, texture in ((room & floor, world.floor), (room & ~floor, world.walls)):
        chosen = np.flatnonzero(rays)
        albedo[:, chosen] = texture.at(hits.points.take(chosen, axis=1))
    for number, (body, texture) in enumerate(zip(world.bodies, world.textures, strict=True), start=1):
        chosen = np.flatnonzero(hits.instances == number)
        albedo[:, chosen] = texture.at(body.to_local(hits.points.take(chosen, axis=1)))
        highlight[chosen] = world.highlights[number - 1]
    return albedo, highlight


def _shadowed(world: World, hits: Hits) -> PerRayMask:
    """Return which points [N] have a body between them and the lamp.

    Rays go from the lamp to the points, which they reach at parameter 1. A convex body never shades a point of its own surface
    that faces the lamp, so that pair is left out.
    """
    shadow = np.zeros(hits.points.shape[1], dtype=bool)
    directions = hits.points - world.lamp[:, None]
    squared_lengths = np.einsum("ij,ij->j", directions, directions)
    for number, body in enumerate(world.bodies, start=1):
        rays = near(body, world.lamp, directions, squared_lengths)
        rays = rays[hits.instances[rays] != number]
        enter, leave, _ = intersect(body, world.lamp, directions.take(rays, axis=1))
        shadow[rays[(enter <= leave) & (enter < 1)]] = True
    return shadow
