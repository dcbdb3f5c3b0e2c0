from __future__ import annotations

import numpy as np
import pytest

from vitgeom.data.corruptions.fields import cloudy_field, smooth_field


def generator() -> np.random.Generator:
    return np.random.default_rng(2)


def test_a_smooth_field_has_unit_power_and_agrees_nearby():
    field = smooth_field((90, 60), sigma=5.0, generator=generator())
    assert field.shape == (90, 60)
    assert np.mean(field**2) == pytest.approx(1)
    # Smoothing white noise by a normal density of sigma gives the correlation exp(-d^2 / (4 sigma^2)).
    assert np.mean(field[:, 1:] * field[:, :-1]) == pytest.approx(np.exp(-1 / 100), abs=0.02)


def test_a_cloudy_field_spans_0_to_1_and_its_spectrum_falls_as_said():
    field = cloudy_field((256, 256), roughness=1.5, generator=generator())
    assert (field.min(), field.max()) == (0, 1)
    power = np.abs(np.fft.rfft2(field)) ** 2
    frequency = np.hypot(np.fft.fftfreq(256)[:, None], np.fft.rfftfreq(256)[None, :])
    bands = [(0.02, 0.04), (0.1, 0.2)]
    levels = [power[(frequency > low) & (frequency < high)].mean() for low, high in bands]
    # A factor 5 in frequency is a factor 5^-3 in power; a band holds hundreds of independent exponential draws.
    assert np.log(levels[0] / levels[1]) == pytest.approx(3 * np.log(5), abs=0.5)


def test_less_roughness_means_more_detail():
    fine, coarse = (cloudy_field((64, 64), roughness=r, generator=generator()) for r in (1.2, 2.2))
    assert np.abs(np.diff(fine)).mean() > 2 * np.abs(np.diff(coarse)).mean()


def test_a_single_pixel_is_no_cloud():
    assert cloudy_field((1, 1), roughness=2.0, generator=generator()).tolist() == [[0.5]]
