from __future__ import annotations

import numpy as np
from PIL import Image

from vitgeom.data.corruptions.eight_bits import to_image, to_pixels


def test_all_levels_survive_the_way_there_and_back():
    levels = np.arange(256, dtype=np.uint8).repeat(3).reshape(16, 16, 3)
    image = Image.fromarray(levels)
    assert to_pixels(image).max() == 1
    np.testing.assert_array_equal(np.asarray(to_image(to_pixels(image))), levels)


def test_values_outside_are_clipped_and_others_rounded():
    pixels = np.array([[[-1, 0.5 / 255 + 1e-6, 2]]])
    assert np.asarray(to_image(pixels)).tolist() == [[[0, 1, 255]]]
