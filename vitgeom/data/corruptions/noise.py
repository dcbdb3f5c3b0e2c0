"""Noise of sensors and transmission, independent for every pixel and channel; strengths of Hendrycks and Dietterich.

They hold for 224 pixels. A pixel of a smaller picture stands for (224 / side)^2 of theirs, whose noise averages out: standard deviations
shrink by ``fineness`` = side / 224, and photons per pixel grow by 1 / fineness^2. Larger pictures get the strengths as they are.
"""

from __future__ import annotations

import numpy as np

from vitgeom.data.corruptions.corruption import REFERENCE_SIDE, Corruption, Pixels, side_of


def fineness(pixels: Pixels) -> float:
    """Return the shorter side over 224, at most 1."""
    return min(1.0, side_of(pixels) / REFERENCE_SIDE)


def gaussian_noise(pixels: Pixels, *, sigma: float, generator: np.random.Generator) -> Pixels:
    """Add normal noise, as of a sensor in poor light.

    Args:
        pixels: RGB in 0..1.
        sigma: Standard deviation at 224 pixels, on the scale of the pixels.
        generator: The only source of randomness.
    """
    return pixels + sigma * fineness(pixels) * generator.standard_normal(pixels.shape)


def shot_noise(pixels: Pixels, *, photons: float, generator: np.random.Generator) -> Pixels:
    """Count photons: x becomes Poisson(x c) / c, so that bright parts vary most.

    Args:
        pixels: RGB in 0..1.
        photons: c at 224 pixels, the mean count of a white pixel.
        generator: The only source of randomness.
    """
    count = photons / fineness(pixels) ** 2
    return generator.poisson(pixels * count) / count


def impulse_noise(pixels: Pixels, *, share: float, generator: np.random.Generator) -> Pixels:
    """Replace values by full light or none (salt and pepper), as bit errors do.

    Args:
        pixels: RGB in 0..1.
        share: Of the values that are replaced at 224 pixels; it shrinks as the standard deviations do. Half of them become 1, half 0.
        generator: The only source of randomness.
    """
    drawn = generator.uniform(size=pixels.shape)
    share = share * fineness(pixels)
    return np.where(drawn < share / 2, 1.0, np.where(drawn > 1 - share / 2, 0.0, pixels))


def speckle_noise(pixels: Pixels, *, sigma: float, generator: np.random.Generator) -> Pixels:
    """Multiply by 1 plus normal noise.

    Args:
        pixels: RGB in 0..1.
        sigma: Standard deviation of the factor at 224 pixels.
        generator: The only source of randomness.
    """
    return pixels * (1 + sigma * fineness(pixels) * generator.standard_normal(pixels.shape))


NOISES = (
    Corruption("gaussian_noise", gaussian_noise, {"sigma": (0.08, 0.12, 0.18, 0.26, 0.38)}),
    Corruption("shot_noise", shot_noise, {"photons": (60.0, 25.0, 12.0, 5.0, 3.0)}),
    Corruption("impulse_noise", impulse_noise, {"share": (0.03, 0.06, 0.09, 0.17, 0.27)}),
    Corruption("speckle_noise", speckle_noise, {"sigma": (0.15, 0.2, 0.35, 0.45, 0.6)}),
)
