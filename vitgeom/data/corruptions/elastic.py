"""A sheet of rubber: every pixel moves a little, its neighbours along with it.

Hendrycks and Dietterich change the kind of the deformation between severities (wide waves at 1, a fine ripple at 3 to 5). Ours keeps its kind,
one smooth field per axis, and grows in amplitude alone.
"""

from __future__ import annotations

import numpy as np
from scipy.ndimage import map_coordinates

from vitgeom.data.corruptions.corruption import Corruption, Pixels, side_of
from vitgeom.data.corruptions.fields import smooth_field

_WAVE = 0.05


def elastic_transform(pixels: Pixels, *, shift: float, generator: np.random.Generator) -> Pixels:
    """Show at each pixel what lies a random distance away, the same for pixels within about a twentieth of the side.

    Args:
        pixels: RGB in 0..1.
        shift: Root mean square of the distance along each axis, as a share of the shorter side.
        generator: The only source of randomness.
    """
    height, width, _ = pixels.shape
    side = side_of(pixels)
    moved = np.stack(
        [smooth_field((height, width), sigma=_WAVE * side, generator=generator) for _ in range(2)]
    )
    places = np.mgrid[:height, :width] + shift * side * moved
    channels = [
        map_coordinates(pixels[..., channel], places, order=1, mode="nearest") for channel in range(3)
    ]
    return np.stack(channels, axis=2)


ELASTIC = (
    Corruption("elastic_transform", elastic_transform, {"shift": (0.006, 0.011, 0.016, 0.022, 0.028)}),
)
