"""Losses of storage and transmission: too few pixels, too few bits; strengths of Hendrycks and Dietterich."""

from __future__ import annotations

import io

import numpy as np
from PIL import Image

from vitgeom.data.corruptions.corruption import Corruption, Pixels
from vitgeom.data.corruptions.eight_bits import to_image, to_pixels


def pixelate(pixels: Pixels, *, scale: float, generator: np.random.Generator) -> Pixels:
    """Shrink by averaging, then enlarge again with square pixels.

    Args:
        pixels: RGB in 0..1.
        scale: New side over old, below 1.
        generator: Not used: nothing here is random.
    """
    image = to_image(pixels)
    width, height = (max(1, round(side * scale)) for side in image.size)
    small = image.resize((width, height), Image.Resampling.BOX)
    return to_pixels(small.resize(image.size, Image.Resampling.NEAREST))


def jpeg_compression(pixels: Pixels, *, quality: float, generator: np.random.Generator) -> Pixels:
    """Encode as JPEG and decode again, with colours at half resolution.

    Blocks have 8 pixels, whatever the size of the picture. The bytes are those of the JPEG library that Pillow was built with;
    versions that round differently show in the digest of a corrupted dataset.

    Args:
        pixels: RGB in 0..1.
        quality: Of the encoder, a whole number from 1 to 95.
        generator: Not used: nothing here is random.
    """
    encoded = io.BytesIO()
    to_image(pixels).save(encoded, format="JPEG", quality=int(quality), subsampling="4:2:0")
    with Image.open(encoded) as decoded:
        return to_pixels(decoded.convert("RGB"))


LOSSES = (
    Corruption("pixelate", pixelate, {"scale": (0.6, 0.5, 0.4, 0.3, 0.25)}),
    Corruption("jpeg_compression", jpeg_compression, {"quality": (25.0, 18.0, 15.0, 10.0, 7.0)}),
)
