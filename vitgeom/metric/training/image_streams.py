"""Randomness that belongs to an image, whichever worker holds it."""

from __future__ import annotations

from jaxtyping import Int64
from torch import Generator, Tensor

from vitgeom.seeding import generator_for


def image_generators(generator: Generator, rows: Int64[Tensor, " b"]) -> list[Generator]:
    """Return one generator per image, which depends on the step's generator and the image's number alone.

    Args:
        generator: Of the step; nothing is drawn from it.
        rows: Numbers of the images.
    """
    return [generator_for(generator.initial_seed(), "image", row) for row in rows.tolist()]
