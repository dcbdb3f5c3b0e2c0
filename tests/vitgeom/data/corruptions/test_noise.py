from __future__ import annotations

import numpy as np
import pytest

from vitgeom.data.corruptions.noise import (
    NOISES,
    fineness,
    gaussian_noise,
    impulse_noise,
    shot_noise,
    speckle_noise,
)

GREY = np.full((224, 224, 3), 0.5)
COUNT = GREY.size


def generator() -> np.random.Generator:
    return np.random.default_rng(5)


@pytest.mark.parametrize(
    ("apply", "strength", "variance"),
    [
        (gaussian_noise, {"sigma": 0.1}, 0.01),
        (speckle_noise, {"sigma": 0.2}, 0.01),
        (shot_noise, {"photons": 20.0}, 0.5 / 20),
    ],
)
@pytest.mark.parametrize("side", [224, 112])
def test_mean_and_variance_are_those_of_the_formula_and_shrink_with_the_picture(
    apply, strength, variance, side
):
    pixels = GREY[:side, :side]
    got = apply(pixels, generator=generator(), **strength)
    expected = variance * (side / 224) ** 2
    assert abs(got.mean() - 0.5) < 5 * np.sqrt(expected / pixels.size)
    # The variance of a sample variance is about 2 v^2 / n; the excess of a Poisson count adds little here.
    assert abs(got.var() - expected) < 6 * expected * np.sqrt(2 / pixels.size)


def test_speckle_leaves_black_and_shot_noise_too():
    black = np.zeros((9, 9, 3))
    assert not speckle_noise(black, sigma=0.5, generator=generator()).any()
    assert not shot_noise(black, photons=5.0, generator=generator()).any()


def test_impulses_are_as_many_as_said_half_of_each_kind():
    got = impulse_noise(GREY, share=0.2, generator=generator())
    for value, share in ((0.0, 0.1), (1.0, 0.1), (0.5, 0.8)):
        assert abs(np.mean(got == value) - share) < 5 * np.sqrt(share * (1 - share) / COUNT)
    smaller = impulse_noise(GREY[:56, :56], share=0.2, generator=generator())
    assert abs(np.mean(smaller != 0.5) - 0.05) < 5 * np.sqrt(0.05 * 0.95 / smaller.size)


def test_no_picture_is_finer_than_the_reference():
    assert fineness(np.zeros((500, 448, 3))) == 1
    assert fineness(np.zeros((56, 100, 3))) == 0.25


def test_the_family():
    assert [item.name for item in NOISES] == [
        "gaussian_noise",
        "shot_noise",
        "impulse_noise",
        "speckle_noise",
    ]
