"""Between pictures of 8 bits per channel and pixels in 0..1."""

from __future__ import annotations

import numpy as np
from PIL import Image

from vitgeom.data.corruptions.corruption import Pixels


def to_pixels(image: Image.Image) -> Pixels:
    """Return the float64 pixels of an RGB image."""
    return np.asarray(image, dtype=np.float64) / 255


def to_image(pixels: Pixels) -> Image.Image:
    """Return the RGB image whose pixels are nearest; values outside 0..1 are clipped."""
    return Image.fromarray(np.rint(255 * np.clip(pixels, 0, 1)).astype(np.uint8))
