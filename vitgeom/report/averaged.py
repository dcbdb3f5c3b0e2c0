"""A figure averaged over images and training runs, as result files of learnt metrics hold it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from vitgeom.bootstrap import Interval

ROUNDING = 1e-6
HALF_PRECISION = 1e-3
"""Directions that are stored in half precision have lengths that are off by so much: what they hold of themselves is not 1 to the last digit."""


@dataclass(frozen=True)
class Averaged:
    """One figure over images.

    Attributes:
        mean: Over images, of the mean over seeds, with its 95 % bootstrap interval over images.
        images: On how many it is defined.
        std: Deviation over images.
        seeds: Mean over images by seed; one where nothing is random.
    """

    mean: Interval
    images: int
    std: float
    seeds: tuple[float, ...]


def parse_averaged(found: Mapping[str, Any] | None) -> Averaged | None:
    """Read one figure; None where it is defined on no image.

    Args:
        found: As ``{"mean": {"value", "low", "high"}, "images", "std", "seeds"}``, or None.

    Raises:
        KeyError: A part is missing; likewise TypeError and ValueError for parts of another shape.
    """
    if found is None:
        return None
    return Averaged(
        Interval.from_json(found["mean"]),
        int(found["images"]),
        float(found["std"]),
        tuple(float(value) for value in found["seeds"]),
    )


def averaged_problems(
    what: str,
    found: Averaged | None,
    *,
    least: float = -math.inf,
    most: float = math.inf,
    slack: float = ROUNDING,
) -> Iterator[str]:
    """Yield what cannot be in a figure.

    Args:
        what: How the figure is called.
        found: The figure.
        least: The least that its mean can be, up to rounding.
        most: The most.
        slack: What rounding may add.
    """
    if found is None:
        return
    mean = found.mean
    if not (mean.low <= mean.high and all(math.isfinite(end) for end in (mean.value, mean.low, mean.high))):
        yield f"{what} must be a finite number with an interval from low to high, got {mean}"
    elif not least - slack <= mean.value <= most + slack:
        yield f"{what} must be {least:g} to {most:g}, got {mean.value:g}"
    if found.images < 1 or not found.seeds:
        yield f"{what} must be of at least one image and one seed, got {found.images} and {len(found.seeds)}"
