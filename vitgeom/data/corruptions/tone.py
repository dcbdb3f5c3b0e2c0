"""Wrong exposure and wrong colours, the same at every pixel.   value = largest channel, saturation = 1 - smallest / largest.

Brightness has the strengths of Hendrycks and Dietterich. Their contrast keeps 0.4 at severity 1 and 0.05 at 5, of which eye and 8 bits leave
little; ours keeps more. Their ``saturate`` takes colour away at severities 1 and 2 and adds it at 3 to 5; ours adds it at all five, so that
severity is one direction.
"""

from __future__ import annotations

import numpy as np

from vitgeom.data.corruptions.corruption import Corruption, Pixels

_RED = np.array([0.0, 1.0, 1.0])  # what the channels of a grey pixel lose when it gets colour: it has hue 0


def brightness(pixels: Pixels, *, added: float, generator: np.random.Generator) -> Pixels:
    """Raise the value (largest channel) at equal hue and saturation: over-exposure.

    Args:
        pixels: RGB in 0..1.
        added: To the value, which stops at 1.
        generator: Not used: nothing here is random.
    """
    value = pixels.max(axis=2, keepdims=True)
    raised = np.minimum(value + added, 1)
    black = value == 0
    return np.where(black, raised, pixels * (raised / np.where(black, 1, value)))


def contrast(pixels: Pixels, *, kept: float, generator: np.random.Generator) -> Pixels:
    """Move every channel towards its mean over the picture.

    Args:
        pixels: RGB in 0..1.
        kept: Share of the differences from the mean that stays.
        generator: Not used: nothing here is random.
    """
    mean = pixels.mean(axis=(0, 1), keepdims=True)
    return mean + kept * (pixels - mean)


def saturate(pixels: Pixels, *, factor: float, added: float, generator: np.random.Generator) -> Pixels:
    """Raise the saturation s to factor s + added, at most 1, at equal value and hue; grey turns reddish, hue 0.

    Args:
        pixels: RGB in 0..1.
        factor: Of the saturation.
        added: To it.
        generator: Not used: nothing here is random.
    """
    value = pixels.max(axis=2, keepdims=True)
    lost = 1 - pixels / np.where(
        value == 0, 1, value
    )  # per channel; the largest of the three is the saturation
    saturation = lost.max(axis=2, keepdims=True)
    grey = (saturation == 0) | (value == 0)
    wanted = np.minimum(factor * np.where(grey, 0, saturation) + added, 1)
    shares = np.where(grey, _RED, lost / np.where(grey, 1, saturation))
    return value * (1 - wanted * shares)


TONES = (
    Corruption("brightness", brightness, {"added": (0.1, 0.2, 0.3, 0.4, 0.5)}),
    Corruption("contrast", contrast, {"kept": (0.6, 0.45, 0.3, 0.2, 0.1)}),
    Corruption(
        "saturate", saturate, {"factor": (1.3, 1.7, 2.3, 4.0, 8.0), "added": (0.02, 0.05, 0.1, 0.15, 0.2)}
    ),
)
