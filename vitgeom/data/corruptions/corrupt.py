"""One picture, damaged."""

from __future__ import annotations

import numpy as np
from PIL import Image

from vitgeom.data.corruptions.corruption import Corruption
from vitgeom.data.corruptions.eight_bits import to_image, to_pixels
from vitgeom.data.corruptions.registry import CORRUPTIONS
from vitgeom.errors import InvalidInput, UnknownName


def corrupt(
    image: Image.Image, *, corruption: str, severity: int, generator: np.random.Generator
) -> Image.Image:
    """Return a damaged copy of an image, of the same size.

    The result depends on the arguments alone; for a whole dataset ``corrupted`` derives one generator per image by name.

    Args:
        image: Of mode RGB.
        corruption: A key of ``CORRUPTIONS``.
        severity: 1 (mild) to 5 (strong).
        generator: The only source of randomness.

    Raises:
        UnknownName: No corruption has this name; the nearest one is suggested.
        InvalidInput: The severity is not one of 1 to 5, or the image is not RGB.
    """
    chosen = corruption_named(corruption)
    strength = chosen.strength(severity)
    if image.mode != "RGB":
        raise InvalidInput(f"image must be of mode RGB, got {image.mode}. Give image.convert('RGB').")
    return to_image(chosen.apply(to_pixels(image), generator=generator, **strength))


def corruption_named(name: str) -> Corruption:
    """Return a corruption.

    Raises:
        UnknownName: There is none of this name; the nearest one is suggested.
    """
    if name not in CORRUPTIONS:
        raise UnknownName("corruption", name, CORRUPTIONS)
    return CORRUPTIONS[name]
