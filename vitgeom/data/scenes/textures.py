"""Solid textures: two colours mixed by a pattern in space."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from vitgeom.data.scenes.arrays import Matrix, PerRay, Points, Vector

Pattern = Callable[[Points], PerRay]


@dataclass(frozen=True, eq=False)
class Texture:
    """A pattern in its own frame and the two colours that it mixes.

    Attributes:
        pattern: Points [3, N] -> weight of the second colour, [N] in 0..1.
        frame: [3, 3] turn and scale from the object's frame to the pattern's.
        shift: [3] offset in the pattern's frame.
        colours: [2, 3] linear RGB in 0..1.
    """

    pattern: Pattern
    frame: Matrix
    shift: Vector
    colours: Float[np.ndarray, "2 3"]

    def at(self, points: Points) -> Points:
        """Return linear RGB [3, N] at points [3, N] of the object's frame."""
        weight = self.pattern(self.frame @ points + self.shift[:, None])
        first, second = self.colours[:, :, None]
        return first + (second - first) * weight


def plain(points: Points) -> PerRay:
    """One colour."""
    return np.zeros(points.shape[1])


def checker(points: Points) -> PerRay:
    """Cubes of side 1 in alternating colours."""
    return np.floor(points).sum(axis=0) % 2


def stripes(points: Points) -> PerRay:
    """Bands across the first axis, period 2, with soft edges."""
    return _soft(np.sin(np.pi * points[0]))


def spots(points: Points) -> PerRay:
    """Balls of radius 0.38 about the integer points."""
    offset = points - np.rint(points)
    return _soft(4 * (0.38**2 - (offset**2).sum(axis=0)) / 0.38)


def marble(points: Points) -> PerRay:
    """Bands that are bent by slower waves."""
    x, y, z = points
    return 0.5 + 0.5 * np.sin(np.pi * x + 2 * np.sin(1.3 * y + 0.7 * z) + 1.1 * np.sin(2.3 * z - 1.7 * y + x))


def blotches(points: Points) -> PerRay:
    """Irregular patches: the sign of a sum of waves that never repeats."""
    x, y, z = points
    waves = (
        np.sin(2.1 * x + np.sin(1.7 * y))
        + np.sin(2.7 * y + np.sin(1.9 * z))
        + np.sin(2.3 * z + np.sin(2.9 * x))
    )
    return _soft(1.5 * waves)


def _soft(signed: PerRay) -> PerRay:
    """Step from 0 to 1 around 0, over about 0.5."""
    return np.clip(0.5 + 2 * signed, 0.0, 1.0)


PATTERNS: tuple[Pattern, ...] = (plain, checker, stripes, spots, marble, blotches)
