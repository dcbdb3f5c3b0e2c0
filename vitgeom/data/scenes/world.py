"""Drawing a world at random: target, distractors, room, lamp and camera."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vitgeom.data.scenes.camera import Camera, look_at
from vitgeom.data.scenes.difficulty import Difficulty
from vitgeom.data.scenes.intersection import Body
from vitgeom.data.scenes.solids import SOLIDS
from vitgeom.data.scenes.textures import PATTERNS, Texture

ROOM_HALF_WIDTH = 14.0
ROOM_HEIGHT = 12.0
_UP = np.array([0.0, 0.0, 1.0])
_MOST_TRIES = 60


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
    lamp: np.ndarray
    highlights: np.ndarray
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
    target = _draw_body(label, np.zeros(2), generator, difficulty)
    camera = _draw_camera(target, generator, size, difficulty)
    bodies = [target]
    for _ in range(generator.integers(int(difficulty.min_distractors), int(difficulty.max_distractors) + 1)):
        extra = _draw_distractor(bodies, camera, generator, difficulty)
        if extra is not None:
            bodies.append(extra)
    angle, radius = generator.uniform(0, 2 * np.pi), generator.uniform(2, 8)
    return World(
        bodies=tuple(bodies),
        textures=tuple(_draw_texture(generator, difficulty, difficulty.texture_scale) for _ in bodies),
        floor=_draw_texture(generator, difficulty, difficulty.texture_scale / 2),
        walls=_draw_texture(generator, difficulty, difficulty.texture_scale / 5),
        lamp=np.array([radius * np.cos(angle), radius * np.sin(angle), generator.uniform(7, 11)]),
        highlights=generator.uniform(0, difficulty.highlight, len(bodies)),
        camera=camera,
    )


def _draw_rotation(generator: np.random.Generator) -> np.ndarray:
    """Return a rotation [3, 3], uniform over all of them: a normalised Gaussian quaternion."""
    w, x, y, z = (q := generator.standard_normal(4)) / np.sqrt(q @ q)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )


def _draw_body(number: int, place: np.ndarray, generator: np.random.Generator, difficulty: Difficulty) -> Body:
    """Stretch and turn solid ``number`` at random and let it touch the floor at ``place`` [2]."""
    stretch = generator.uniform(1 - difficulty.stretch, 1 + difficulty.stretch, 3)
    body = Body(SOLIDS[number], np.zeros(3), _draw_rotation(generator), stretch)
    return Body(body.solid, np.array([*place, body.support(-_UP)]), body.rotation, stretch)


def _draw_camera(target: Body, generator: np.random.Generator, size: int, difficulty: Difficulty) -> Camera:
    azimuth = generator.uniform(0, 2 * np.pi)
    elevation = np.deg2rad(generator.uniform(difficulty.min_elevation, difficulty.max_elevation))
    distance = generator.uniform(difficulty.min_distance, difficulty.max_distance)
    view = np.deg2rad(generator.uniform(difficulty.min_view, difficulty.max_view))
    roll = np.deg2rad(generator.uniform(-difficulty.roll, difficulty.roll))
    towards = np.array([np.cos(elevation) * np.cos(azimuth), np.cos(elevation) * np.sin(azimuth), np.sin(elevation)])
    position = target.centre + distance * towards
    # Aim beside the target by an angle that moves it the wanted part of the image away from the centre.
    direct = look_at(position, target.centre, roll=roll, field_of_view=view, size=size)
    turn, share = generator.uniform(0, 2 * np.pi), difficulty.aim_error * np.sqrt(generator.uniform())
    side = 2 * np.tan(view / 2) * share * distance * (np.cos(turn) * direct.rotation[0] + np.sin(turn) * direct.rotation[1])
    return look_at(position, target.centre - side, roll=roll, field_of_view=view, size=size)


def _draw_distractor(
    bodies: list[Body], camera: Camera, generator: np.random.Generator, difficulty: Difficulty
) -> Body | None:
    for _ in range(_MOST_TRIES):
        angle, radius = generator.uniform(0, 2 * np.pi), generator.uniform(1.4, 6.0)
        place = radius * np.array([np.cos(angle), np.sin(angle)])
        body = _draw_body(int(generator.integers(len(SOLIDS))), place, generator, difficulty)
        if _fits(body, bodies, camera, difficulty):
            return body
    return None


def _fits(body: Body, others: list[Body], camera: Camera, difficulty: Difficulty) -> bool:
    """Whether the body is clear of the others and of the camera, is in view, and leaves the target the central one."""
    depth = float(camera.rotation[2] @ body.centre + camera.translation[2])
    target = others[0]
    if depth < 1.5 or any(_distance(body.centre, other.centre) < body.reach + other.reach for other in others):
        return False
    middle = camera.size / 2
    here, goal = camera.project(np.stack([body.centre, target.centre], axis=1)).T
    from_middle = np.hypot(*(here - middle))
    if from_middle <= np.hypot(*(goal - middle)) + 0.05 * camera.size or from_middle > 0.65 * camera.size:
        return False
    target_depth = float(camera.rotation[2] @ target.centre + camera.translation[2])
    radii = camera.intrinsics[0, 0] * (body.reach / depth + target.reach / target_depth)
    return depth > target_depth or np.hypot(*(here - goal)) >= (1 - difficulty.overlap) * radii


def _distance(first: np.ndarray, second: np.ndarray) -> float:
    return float(np.sqrt(((first - second) ** 2).sum()))


def _draw_texture(generator: np.random.Generator, difficulty: Difficulty, scale: float) -> Texture:
    first = generator.uniform(0.04, 0.95, 3)
    second = np.clip(first + generator.uniform(-difficulty.contrast, difficulty.contrast, 3), 0.02, 1.0)
    return Texture(
        pattern=PATTERNS[int(generator.integers(len(PATTERNS)))],
        frame=_draw_rotation(generator) * scale * generator.uniform(0.7, 1.4),
        shift=generator.uniform(0, 10, 3),
        colours=np.stack([first, second]),
    )
