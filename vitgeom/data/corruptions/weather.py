"""What lies between camera and object: fog in the air, drops on the lens.

Fog follows Hendrycks and Dietterich: clouds with detail at every scale. Their clouds come from midpoint displacement, whose steps shrink
by a factor w from one scale to the next half as large; ours are drawn in the frequency domain with the amplitude that has the same
scaling, frequency^-(1 + log2 w). Our amounts are lower: theirs, 1.5 to 3, hide most of a small picture at severity 1.

Drops are ours altogether: a random smooth field is cut at two heights, mud above and water below.
"""

from __future__ import annotations

import numpy as np

from vitgeom.data.corruptions.corruption import Corruption, Pixels, side_of
from vitgeom.data.corruptions.fields import cloudy_field, smooth_field

_WATER = np.array([0.69, 0.93, 0.93])
_MUD = np.array([0.25, 0.16, 0.08])
_DROP_SIZE = 0.035
_SOFT_EDGE = 0.25


def fog(pixels: Pixels, *, amount: float, shrink: float, generator: np.random.Generator) -> Pixels:
    """Add clouds, and scale so that the brightest pixel stays as bright: (x + a f) m / (m + a), m = max x.

    Args:
        pixels: RGB in 0..1.
        amount: a, the light of the densest cloud.
        shrink: w, > 1.
        generator: The only source of randomness.
    """
    height, width, _ = pixels.shape
    clouds = cloudy_field((height, width), roughness=1 + np.log2(shrink), generator=generator)
    brightest = max(float(pixels.max()), 1e-3)
    return (pixels + amount * clouds[..., None]) * (brightest / (brightest + amount))


def spatter(pixels: Pixels, *, share: float, generator: np.random.Generator) -> Pixels:
    """Cover parts of the picture with drops, half of them water and half mud.

    Args:
        pixels: RGB in 0..1.
        share: Of the picture that is covered.
        generator: The only source of randomness.
    """
    height, width, _ = pixels.shape
    field = smooth_field((height, width), sigma=_DROP_SIZE * side_of(pixels), generator=generator)
    low, high = np.quantile(field, [share / 2, 1 - share / 2])
    water = np.clip((low - field) / _SOFT_EDGE + 0.5, 0, 1)[..., None]
    mud = np.clip((field - high) / _SOFT_EDGE + 0.5, 0, 1)[..., None]
    wet = pixels + 0.8 * water * (_WATER - pixels)
    return wet + mud * (_MUD - wet)


WEATHER = (
    Corruption("fog", fog, {"amount": (0.3, 0.5, 0.8, 1.1, 1.4), "shrink": (2.0, 1.9, 1.8, 1.7, 1.6)}),
    Corruption("spatter", spatter, {"share": (0.02, 0.05, 0.1, 0.17, 0.26)}),
)
