from __future__ import annotations

import numpy as np

from vitgeom.data.corruptions.digital import jpeg_compression, pixelate
from vitgeom.data.corruptions.eight_bits import to_image, to_pixels

NONE = np.random.default_rng(0)


def slopes(side: int = 32) -> np.ndarray:
    rows, columns = np.mgrid[:side, :side] / side
    return np.stack([rows, columns, (rows + columns) / 2], axis=2)


def test_pixelate_gives_squares_of_their_mean():
    pixels = to_pixels(to_image(slopes()))
    got = pixelate(pixels, scale=0.25, generator=NONE)
    for row, column in ((0, 0), (8, 28)):
        block = got[row : row + 4, column : column + 4]
        assert (block == block[0, 0]).all()
        np.testing.assert_allclose(
            block[0, 0], pixels[row : row + 4, column : column + 4].mean(axis=(0, 1)), atol=0.5 / 255 + 1e-9
        )


def test_a_picture_of_one_pixel_survives():
    one = np.full((1, 1, 3), 0.2)
    assert pixelate(one, scale=0.25, generator=NONE).tolist() == one.tolist()
    assert jpeg_compression(one, quality=7.0, generator=NONE).shape == (1, 1, 3)


def test_a_plain_picture_passes_through_jpeg_and_fine_detail_does_not():
    plain = np.full((16, 16, 3), 128 / 255)
    np.testing.assert_allclose(jpeg_compression(plain, quality=25.0, generator=NONE), plain, atol=2 / 255)
    noisy = np.random.default_rng(1).uniform(size=(32, 32, 3))
    lost = [
        np.abs(jpeg_compression(noisy, quality=q, generator=NONE) - noisy).mean() for q in (95.0, 25.0, 7.0)
    ]
    assert 0 < lost[0] < lost[1] < lost[2]
