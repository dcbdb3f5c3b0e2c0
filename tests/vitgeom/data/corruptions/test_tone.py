from __future__ import annotations

import colorsys

import numpy as np
import pytest

from vitgeom.data.corruptions.tone import brightness, contrast, saturate

PIXELS = np.random.default_rng(0).uniform(size=(5, 6, 3))
PIXELS[0, 0], PIXELS[0, 1], PIXELS[0, 2] = (0, 0, 0), (1, 1, 1), (0.4, 0.4, 0.4)
NONE = np.random.default_rng(0)


def by_hsv(change) -> np.ndarray:
    """Change (hue, saturation, value) of each pixel with the conversions of the standard library."""
    result = np.empty_like(PIXELS)
    for place in np.ndindex(PIXELS.shape[:2]):
        result[place] = colorsys.hsv_to_rgb(*change(*colorsys.rgb_to_hsv(*PIXELS[place])))
    return result


def test_brightness_raises_the_value_alone():
    expected = by_hsv(lambda h, s, v: (h, s, min(v + 0.3, 1)))
    np.testing.assert_allclose(brightness(PIXELS, added=0.3, generator=NONE), expected, atol=1e-12)


@pytest.mark.parametrize(("factor", "added"), [(1.0, 0.0), (2.0, 0.1), (20.0, 0.2)])
def test_saturate_raises_the_saturation_alone(factor, added):
    expected = by_hsv(lambda h, s, v: (h, min(factor * s + added, 1), v))
    got = saturate(PIXELS, factor=factor, added=added, generator=NONE)
    np.testing.assert_allclose(got, expected, atol=1e-12)


def test_contrast_keeps_the_mean_and_a_share_of_the_differences():
    got = contrast(PIXELS, kept=0.3, generator=NONE)
    np.testing.assert_allclose(got.mean(axis=(0, 1)), PIXELS.mean(axis=(0, 1)))
    np.testing.assert_allclose(got.std(axis=(0, 1)), 0.3 * PIXELS.std(axis=(0, 1)))
    np.testing.assert_allclose(contrast(PIXELS, kept=1.0, generator=NONE), PIXELS)
