"""Random fields over a picture: smooth ones and cloudy ones."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float
from scipy.ndimage import gaussian_filter

Field = Float[np.ndarray, "h w"]


def smooth_field(shape: tuple[int, int], *, sigma: float, generator: np.random.Generator) -> Field:
    """Return a normal field whose values agree over a distance of about ``sigma``, with mean square 1.

    Args:
        shape: Height and width.
        sigma: In pixels.
        generator: The only source of randomness.
    """
    field = gaussian_filter(generator.standard_normal(shape), sigma, mode="wrap")
    return field / np.sqrt(np.mean(field**2))


def cloudy_field(shape: tuple[int, int], *, roughness: float, generator: np.random.Generator) -> Field:
    """Return a field in 0..1 with detail at every scale: a normal one whose spectrum falls as frequency^-roughness.

    Args:
        shape: Height and width.
        roughness: Exponent of the amplitude; less means more fine detail.
        generator: The only source of randomness.
    """
    waves = np.fft.rfft2(generator.standard_normal(shape))
    frequency = np.hypot(np.fft.fftfreq(shape[0])[:, None], np.fft.rfftfreq(shape[1])[None, :])
    frequency[0, 0] = np.inf  # the mean of the field means nothing
    field = np.fft.irfft2(waves / frequency**roughness, s=shape)
    span = np.ptp(field)
    return (field - field.min()) / span if span > 0 else np.full(shape, 0.5)
