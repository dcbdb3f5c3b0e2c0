"""Blur of lenses and of motion: the picture convolved with a kernel, its border continued outwards."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float
from scipy.ndimage import affine_transform, gaussian_filter
from scipy.signal import fftconvolve

from vitgeom.data.corruptions.corruption import Corruption, Pixels, per_side, side_of

Kernel = Float[np.ndarray, "k k"]
_STEPS_PER_PIXEL = 4
_ZOOMED_COPIES = 12


def gaussian_blur(pixels: Pixels, *, sigma: float, generator: np.random.Generator) -> Pixels:
    """Convolve with a normal density.

    Args:
        pixels: RGB in 0..1.
        sigma: Its standard deviation, as a share of the shorter side.
        generator: Not used: nothing here is random.
    """
    width = sigma * side_of(pixels)
    return gaussian_filter(pixels, (width, width, 0), mode="nearest")


def defocus_blur(pixels: Pixels, *, radius: float, generator: np.random.Generator) -> Pixels:
    """Convolve with a disk, as a lens that is out of focus does.

    Args:
        pixels: RGB in 0..1.
        radius: Of the disk, as a share of the shorter side.
        generator: Not used: nothing here is random.
    """
    return convolve(pixels, disk(radius * side_of(pixels)))


def motion_blur(pixels: Pixels, *, length: float, sigma: float, generator: np.random.Generator) -> Pixels:
    """Smear along a line of random direction within 45 degrees of the horizontal, less and less towards its end.

    Args:
        pixels: RGB in 0..1.
        length: Of the line, as a share of the shorter side.
        sigma: The weight at distance t is exp(-t^2 / (2 sigma^2)); a share of the shorter side.
        generator: The only source of randomness.
    """
    angle = generator.uniform(-np.pi / 4, np.pi / 4)
    side = side_of(pixels)
    return convolve(pixels, trail(length * side, sigma=sigma * side, angle=angle))


def zoom_blur(pixels: Pixels, *, zoom: float, generator: np.random.Generator) -> Pixels:
    """Average the picture over magnifications from 1 to ``zoom`` about its centre, as when the camera rushes towards it.

    Args:
        pixels: RGB in 0..1.
        zoom: The largest magnification.
        generator: Not used: nothing here is random.
    """
    middle = (np.array(pixels.shape[:2]) - 1) / 2
    total = np.zeros_like(pixels)
    for factor in np.linspace(1, zoom, _ZOOMED_COPIES):
        shrink = np.full(2, 1 / factor)
        for channel in range(3):
            total[..., channel] += affine_transform(
                pixels[..., channel], shrink, offset=middle * (1 - shrink), order=1, mode="nearest"
            )
    return total / _ZOOMED_COPIES


def convolve(pixels: Pixels, kernel: Kernel) -> Pixels:
    """Convolve every channel with an odd kernel [k, k]; beyond the border the nearest pixel counts."""
    reach = kernel.shape[0] // 2
    wide = np.pad(pixels, ((reach, reach), (reach, reach), (0, 0)), mode="edge")
    return fftconvolve(wide, kernel[..., None], mode="valid", axes=(0, 1))


def disk(radius: float) -> Kernel:
    """Return the kernel [k, k] of a disk, summing to 1; a pixel that its edge crosses counts in part.

    Args:
        radius: In pixels, >= 0; below half a pixel the disk is a point.
    """
    reach = int(np.ceil(radius))
    rows, columns = np.mgrid[-reach : reach + 1, -reach : reach + 1]
    weights = np.clip(radius + 0.5 - np.hypot(rows, columns), 0, 1)
    return weights / weights.sum()


def trail(length: float, *, sigma: float, angle: float) -> Kernel:
    """Return the kernel [k, k] of a line that starts at the centre and fades, summing to 1.

    Each point of the line is shared out among the four pixels around it.

    Args:
        length: In pixels, >= 0.
        sigma: In pixels, > 0.
        angle: Against the horizontal, radians.
    """
    reach = int(np.ceil(length)) + 1
    steps = np.linspace(0, length, int(np.ceil(length * _STEPS_PER_PIXEL)) + 1)
    weights = np.exp(-(steps**2) / (2 * sigma**2))
    kernel = np.zeros((2 * reach + 1, 2 * reach + 1))
    rows, columns = reach + steps * np.sin(angle), reach + steps * np.cos(angle)
    top, left = np.floor(rows).astype(int), np.floor(columns).astype(int)
    for down in (0, 1):
        for right in (0, 1):
            near = (1 - abs(rows - top - down)) * (1 - abs(columns - left - right))
            np.add.at(kernel, (top + down, left + right), weights * near)
    return kernel / kernel.sum()


BLURS = (
    # Theirs begin at 1 pixel of 224, which is no blur at all on 64 pixels.
    Corruption("gaussian_blur", gaussian_blur, {"sigma": per_side(2.0, 3.0, 4.0, 6.0, 8.0)}),
    Corruption("defocus_blur", defocus_blur, {"radius": per_side(3.0, 4.0, 6.0, 8.0, 10.0)}),
    # Their kernel of radius r reaches 2 r pixels to one side.
    Corruption(
        "motion_blur",
        motion_blur,
        {"length": per_side(20.0, 30.0, 30.0, 30.0, 40.0), "sigma": per_side(3.0, 5.0, 8.0, 12.0, 15.0)},
    ),
    Corruption("zoom_blur", zoom_blur, {"zoom": (1.11, 1.16, 1.21, 1.26, 1.31)}),
)
