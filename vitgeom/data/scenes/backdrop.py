"""Rooms of two looks: a meadow and a sea, in place of the random floor and walls of a world."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from vitgeom.data.scenes.arrays import Matrix
from vitgeom.data.scenes.textures import Pattern, Texture, blotches, stripes
from vitgeom.data.scenes.world import World


@dataclass(frozen=True)
class Backdrop:
    """What floor and walls look like; colours in linear RGB.

    Attributes:
        name: What a reader calls it.
        floor: Pattern of the floor.
        ground: The two colours of the floor.
        beyond: The colour of the walls.
    """

    name: str
    floor: Pattern
    ground: tuple[tuple[float, float, float], tuple[float, float, float]]
    beyond: tuple[float, float, float]

    def __str__(self) -> str:
        return self.name


MEADOW = Backdrop("meadow", blotches, ((0.12, 0.34, 0.05), (0.25, 0.47, 0.10)), (0.10, 0.22, 0.06))
SEA = Backdrop("sea", stripes, ((0.04, 0.16, 0.42), (0.16, 0.36, 0.62)), (0.42, 0.56, 0.72))
BACKDROPS = (MEADOW, SEA)
_JITTER = 0.05


def draw_backdrop(world: World, backdrop: Backdrop, *, generator: np.random.Generator, scale: float) -> World:
    """Return the world in another room; objects, lamp and camera stay.

    Args:
        world: Whose floor and walls are replaced.
        backdrop: The look; every colour varies a little from world to world.
        generator: The only source of randomness.
        scale: Repeats of a pattern per unit of length on the objects; the floor has half as many.
    """
    colours = np.array([*backdrop.ground, backdrop.beyond, backdrop.beyond])
    colours = np.clip(colours + generator.uniform(-_JITTER, _JITTER, colours.shape), 0.01, 1)
    frame = _turn(generator.uniform(0, 2 * np.pi)) * (scale / 2)
    shift = generator.uniform(0, 10, 3)
    return replace(
        world,
        floor=Texture(backdrop.floor, frame, shift, colours[:2]),
        walls=Texture(backdrop.floor, frame, shift, colours[2:]),
    )


def _turn(angle: float) -> Matrix:
    """Return the rotation about the vertical."""
    cos, sin = np.cos(angle), np.sin(angle)
    return np.array([[cos, -sin, 0.0], [sin, cos, 0.0], [0.0, 0.0, 1.0]])
