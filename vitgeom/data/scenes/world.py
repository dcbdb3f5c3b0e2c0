"""Drawing a world at random: target, distractors, room, lamp and camera."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from vitgeom.data.scenes.arrays import PerRayMask, Points, Vector
from vitgeom.data.scenes.camera import Camera, look_at
from vitgeom.data.scenes.difficulty import Difficulty
from vitgeom.data.scenes.intersection import Body
from vitgeom.data.scenes.solids import SOLIDS
from vitgeom.data.scenes.textures import PATTERNS, Texture

ROOM_HALF_WIDTH = 14.0
ROOM_HEIGHT = 12.0
_UP = np.array([0.0, 0.0, 1.0])
_MOST_TRIES = 40


@dataclass(frozen=True, eq=False)
class World:
    """Everything that is in a picture.

    Attributes:
        bodies: The target first, then the distractors. All stand on the floor, z = 0, and none touches another.
        textures: One per body, in its local frame before stretching.
        floor: Texture of the floor, in world coordinates.
        walls: Texture of walls and ceiling, in world coordinates.
        lamp: [3] position of the point light, inside the room and above all bodies.
        highlights: One strength of mirror-like reflection per body.
        camera: Inside the room; of all centres, the target's projects nearest to the image centre.
    """

    bodies: tuple[Body, ...]
    textures: tuple[Texture, ...]
    floor: Texture
    walls: Texture
    lamp: Vector
    highlights: Float[np.ndarray, " bodies"]
    camera: Camera


def draw_world(label: int, *, generator: np.random.Generator, size: int, difficulty: Difficulty) -> World:
    """Draw a world whose target is the solid number ``label``.

    A distractor that finds no free place in some tries is left out, so there may be fewer than ``min_distractors``.

    Args:
        label: Index into ``SOLIDS``.
        generator: The only source of randomness.
        size: Of the image, pixels.
        difficulty: The ranges that are drawn from.
    """
    number = 1 + int(generator.integers(int(difficulty.min_distractors), int(difficulty.max_distractors) + 1))
    target, *others = _draw_bodies(label, number, generator, difficulty)
    camera = _draw_camera(target, generator, size, difficulty)
    bodies = [target]
    for body in others:
        placed = _place(body, bodies, camera, generator, difficulty)
        if placed is not None:
            bodies.append(placed)
    angle, radius, height = generator.uniform((0, 2, 7), (2 * np.pi, 8, 11))
    fine = difficulty.texture_scale
    scales = np.array([fine / 2, fine / 5, *(fine for _ in bodies)])
    floor, walls, *textures = _draw_textures(scales, generator, difficulty)
    return World(
        bodies=tuple(bodies),
        textures=tuple(textures),
        floor=floor,
        walls=walls,
        lamp=np.array([radius * np.cos(angle), radius * np.sin(angle), height]),
        highlights=generator.uniform(0, difficulty.highlight, len(bodies)),
        camera=camera,
    )


def _draw_rotations(count: int, generator: np.random.Generator) -> Float[np.ndarray, "{count} 3 3"]:
    """Return rotations [count, 3, 3], uniform over all of them: from normalised Gaussian quaternions."""
    quaternions = generator.standard_normal((count, 4))
    w, x, y, z = (quaternions / np.sqrt((quaternions**2).sum(axis=1, keepdims=True))).T
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ]
    return np.array(rows).transpose(2, 0, 1)


def _draw_poses(
    count: int, generator: np.random.Generator, *, tilt: float
) -> Float[np.ndarray, "{count} 3 3"]:
    """Return rotations [count, 3, 3]: a free turn about the vertical, then a lean of at most ``tilt`` degrees.

    The upright axis is uniform over the spherical cap of that angle; for 180 degrees the rotation is uniform over all of them.
    """
    turns, sides = generator.uniform(0, 2 * np.pi, (2, count))
    leans = np.arccos(1 - generator.uniform(size=count) * (1 - np.cos(np.deg2rad(tilt))))
    return _about_vertical(sides) @ _about_first_axis(leans) @ _about_vertical(turns - sides)


def _about_vertical(angles: Float[np.ndarray, " n"]) -> Float[np.ndarray, "n 3 3"]:
    c, s, zero, one = np.cos(angles), np.sin(angles), np.zeros_like(angles), np.ones_like(angles)
    return np.array([[c, -s, zero], [s, c, zero], [zero, zero, one]]).transpose(2, 0, 1)


def _about_first_axis(angles: Float[np.ndarray, " n"]) -> Float[np.ndarray, "n 3 3"]:
    c, s, zero, one = np.cos(angles), np.sin(angles), np.zeros_like(angles), np.ones_like(angles)
    return np.array([[one, zero, zero], [zero, c, -s], [zero, s, c]]).transpose(2, 0, 1)


def _draw_bodies(
    label: int, count: int, generator: np.random.Generator, difficulty: Difficulty
) -> list[Body]:
    """Stretch and turn the target and ``count - 1`` other solids at random; all touch the floor above its origin."""
    numbers = [label, *generator.integers(len(SOLIDS), size=count - 1)]
    stretches = generator.uniform(1 - difficulty.stretch, 1 + difficulty.stretch, (count, 3))
    poses = _draw_poses(count, generator, tilt=difficulty.tilt)
    bodies = []
    for number, stretch, rotation in zip(numbers, stretches, poses, strict=True):
        body = Body(SOLIDS[number], np.zeros(3), rotation, stretch)
        bodies.append(replace(body, centre=body.support(-_UP) * _UP))
    return bodies


def _draw_camera(target: Body, generator: np.random.Generator, size: int, difficulty: Difficulty) -> Camera:
    azimuth = generator.uniform(0, 2 * np.pi)
    elevation = np.deg2rad(generator.uniform(difficulty.min_elevation, difficulty.max_elevation))
    distance = generator.uniform(difficulty.min_distance, difficulty.max_distance)
    view = np.deg2rad(generator.uniform(difficulty.min_view, difficulty.max_view))
    roll = np.deg2rad(generator.uniform(-difficulty.roll, difficulty.roll))
    towards = np.array(
        [np.cos(elevation) * np.cos(azimuth), np.cos(elevation) * np.sin(azimuth), np.sin(elevation)]
    )
    position = target.centre + distance * towards
    # Aim beside the target by an angle that moves it the wanted part of the image away from the centre.
    direct = look_at(position, target.centre, roll=roll, field_of_view=view, size=size)
    turn, share = generator.uniform(0, 2 * np.pi), difficulty.aim_error * np.sqrt(generator.uniform())
    side = (
        2
        * np.tan(view / 2)
        * share
        * distance
        * (np.cos(turn) * direct.rotation[0] + np.sin(turn) * direct.rotation[1])
    )
    return look_at(position, target.centre - side, roll=roll, field_of_view=view, size=size)


def _place(
    body: Body, others: list[Body], camera: Camera, generator: np.random.Generator, difficulty: Difficulty
) -> Body | None:
    """Move a body to the first free one of some random places on the floor, or return None."""
    angles, radii = generator.uniform([[0.0], [1.4]], [[2 * np.pi], [6.0]], (2, _MOST_TRIES))
    centres = np.stack([radii * np.cos(angles), radii * np.sin(angles), np.full(_MOST_TRIES, body.centre[2])])
    free = np.flatnonzero(_free(centres, body.reach, others, camera, difficulty))
    return replace(body, centre=centres[:, free[0]]) if len(free) else None


def _free(
    centres: Points, reach: float, others: list[Body], camera: Camera, difficulty: Difficulty
) -> PerRayMask:
    """Return at which centres [3, N] a body is clear of the others, in view, and leaves the target the central object."""
    apart = [_lengths(centres - other.centre[:, None]) >= reach + other.reach for other in others]
    target = others[0]
    depths = camera.rotation[2] @ centres + camera.translation[2]
    in_front = np.where(depths > 1.5, depths, 1.5)
    target_depth = float(camera.rotation[2] @ target.centre + camera.translation[2])
    middle, goal = np.full((2, 1), camera.size / 2), camera.project(target.centre[:, None])
    here = camera.intrinsics[:2] @ (camera.rotation @ centres + camera.translation[:, None]) / in_front
    from_middle, nearest = _lengths(here - middle), float(_lengths(goal - middle)[0])
    radii = camera.intrinsics[0, 0] * (reach / in_front + target.reach / target_depth)
    in_view = (from_middle > nearest + 0.05 * camera.size) & (from_middle < 0.65 * camera.size)
    harmless = (depths > target_depth) | (_lengths(here - goal) >= (1 - difficulty.overlap) * radii)
    return np.all([*apart, depths > 1.5, in_view, harmless], axis=0)


def _lengths(vectors: Float[np.ndarray, "k n"]) -> PerRay:
    """Return the lengths [N] of vectors [k, N]."""
    return np.sqrt(np.einsum("ij,ij->j", vectors, vectors))


def _draw_textures(
    scales: Float[np.ndarray, " textures"], generator: np.random.Generator, difficulty: Difficulty
) -> list[Texture]:
    """Draw one texture per scale [n], in repeats per unit of length."""
    count = len(scales)
    first = generator.uniform(0.04, 0.95, (count, 3))
    second = np.clip(
        first + generator.uniform(-difficulty.contrast, difficulty.contrast, (count, 3)), 0.02, 1.0
    )
    colours = np.stack([first, second], axis=1)
    sizes = scales * generator.uniform(0.7, 1.4, count)
    frames = _draw_rotations(count, generator) * sizes[:, None, None]
    shifts = generator.uniform(0, 10, (count, 3))
    patterns = generator.integers(len(PATTERNS), size=count)
    return [
        Texture(PATTERNS[p], f, s, c) for p, f, s, c in zip(patterns, frames, shifts, colours, strict=True)
    ]
