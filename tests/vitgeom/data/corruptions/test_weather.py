from __future__ import annotations

import numpy as np
import pytest

from vitgeom.data.corruptions.weather import WEATHER, fog, spatter

PIXELS = np.random.default_rng(0).uniform(0, 0.8, size=(48, 40, 3))


def generator() -> np.random.Generator:
    return np.random.default_rng(3)


def test_fog_never_exceeds_the_brightest_pixel_and_hides_contrast():
    got = fog(PIXELS, amount=1.5, shrink=2.0, generator=generator())
    assert got.max() <= PIXELS.max() + 1e-12
    assert got.min() >= 0
    brightest = PIXELS.max()
    # What lies under the fog is scaled by m / (m + a), and the fog is the same for all channels.
    scale = brightest / (brightest + 1.5)
    np.testing.assert_allclose(
        got[..., 0] - got[..., 1], scale * (PIXELS[..., 0] - PIXELS[..., 1]), atol=1e-12
    )


def test_no_fog_changes_nothing_and_black_stays_nearly_black():
    np.testing.assert_allclose(fog(PIXELS, amount=0.0, shrink=2.0, generator=generator()), PIXELS, atol=1e-12)
    assert fog(np.zeros((8, 8, 3)), amount=1.0, shrink=2.0, generator=generator()).max() <= 1e-3


def test_drops_cover_the_share_of_the_picture_that_was_asked_for():
    large = np.full((128, 128, 3), 0.5)
    wet = spatter(large, share=0.2, generator=generator())
    # Soft edges: half-covered pixels count on either side of the cut.
    mud = (wet[..., 2] < 0.29).mean()
    water = (wet[..., 2] > 0.5 + 0.4 * 0.43).mean()
    assert mud == pytest.approx(0.1, abs=0.01)
    assert water == pytest.approx(0.1, abs=0.01)


def test_more_drops_lie_where_there_were_some():
    plain = np.full((64, 64, 3), 0.5)
    few, many = (np.abs(spatter(plain, share=s, generator=generator()) - 0.5) for s in (0.05, 0.3))
    assert (many >= few - 1e-12).all()
    assert many.sum() > 2 * few.sum()


def test_the_family():
    assert [item.name for item in WEATHER] == ["fog", "spatter"]
