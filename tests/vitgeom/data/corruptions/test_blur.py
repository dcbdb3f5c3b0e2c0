from __future__ import annotations

import numpy as np
import pytest

from tests.oracles import convolution_by_loops
from vitgeom.data.corruptions.blur import (
    BLURS,
    convolve,
    defocus_blur,
    disk,
    gaussian_blur,
    motion_blur,
    trail,
    zoom_blur,
)

PIXELS = np.random.default_rng(0).uniform(size=(12, 15, 3))


def generator() -> np.random.Generator:
    return np.random.default_rng(1)


@pytest.mark.parametrize("kernel", [disk(2.3), trail(3.2, sigma=2.0, angle=0.6)])
def test_convolution_is_that_of_the_loops(kernel):
    got = convolve(PIXELS, kernel)
    for channel in range(3):
        expected = convolution_by_loops.convolve(PIXELS[..., channel], kernel)
        np.testing.assert_allclose(got[..., channel], expected, atol=1e-12)


@pytest.mark.parametrize("item", BLURS, ids=lambda item: item.name)
def test_a_plain_picture_stays_as_it_is(item):
    plain = np.full((20, 30, 3), 0.3)
    np.testing.assert_allclose(
        item.apply(plain, generator=generator(), **item.strength(5)), plain, atol=1e-12
    )


@pytest.mark.parametrize("radius", [0.0, 0.3, 0.5, 1.0, 2.5, 7.0])
def test_a_disk_is_round_and_sums_to_one(radius):
    kernel = disk(radius)
    assert kernel.sum() == pytest.approx(1)
    np.testing.assert_array_equal(kernel, kernel.T)
    np.testing.assert_array_equal(kernel, kernel[::-1])
    rows, columns = np.mgrid[: len(kernel), : len(kernel)] - len(kernel) // 2
    assert not kernel[np.hypot(rows, columns) >= radius + 0.5].any()
    assert (kernel[np.hypot(rows, columns) <= radius - 0.5] == kernel.max()).all()


def test_a_trail_points_one_way_and_fades():
    kernel = trail(4.0, sigma=2.0, angle=0.0)
    middle = len(kernel) // 2
    line = kernel[middle]
    assert kernel.sum() == pytest.approx(1)
    assert line.sum() == pytest.approx(1)
    assert not line[: middle - 1].any()
    assert (np.diff(line[middle + 1 : middle + 5]) < 0).all()
    # Turned by a right angle it points down the columns.
    np.testing.assert_allclose(trail(4.0, sigma=2.0, angle=np.pi / 2), kernel.T, atol=1e-12)


def test_a_trail_without_length_and_a_zoom_of_one_change_nothing():
    np.testing.assert_allclose(
        motion_blur(PIXELS, length=0.0, sigma=1.0, generator=generator()), PIXELS, atol=1e-12
    )
    np.testing.assert_allclose(zoom_blur(PIXELS, zoom=1.0, generator=generator()), PIXELS, atol=1e-12)


def test_a_zoom_keeps_the_centre_and_smears_outwards():
    dot = np.zeros((21, 21, 3))
    dot[10, 10] = 1
    assert zoom_blur(dot, zoom=1.3, generator=generator())[10, 10, 0] == pytest.approx(1)
    off = np.zeros((21, 21, 3))
    off[10, 16] = 1
    smeared = zoom_blur(off, zoom=1.3, generator=generator())[10, :, 0]
    assert smeared[17] > 0
    assert smeared[:16].sum() == pytest.approx(0)


@pytest.mark.parametrize(
    ("apply", "strength"), [(gaussian_blur, {"sigma": 0.03}), (defocus_blur, {"radius": 0.05})]
)
def test_the_reach_grows_with_the_picture(apply, strength):
    spread = []
    for side in (41, 161):
        edge = np.zeros((side, side, 3))
        edge[:, side // 2 :] = 1
        profile = apply(edge, generator=generator(), **strength)[side // 2, :, 0]
        spread.append(np.sum((profile > 0.1) & (profile < 0.9)) / side)
    assert spread[0] == pytest.approx(spread[1], abs=0.03)
