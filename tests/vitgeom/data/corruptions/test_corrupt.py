from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from tests.support.pictures import embedded_pictures
from vitgeom.data.corruptions import CORRUPTIONS, corrupt, corruption_named
from vitgeom.data.corruptions.eight_bits import to_image, to_pixels
from vitgeom.errors import InvalidInput, UnknownName

RANDOM = {
    "gaussian_noise", "shot_noise", "impulse_noise", "speckle_noise", "motion_blur", "fog", "spatter", "elastic_transform",
}  # fmt: skip


def damaged(name: str, seed: int) -> bytes:
    image = embedded_pictures("photos", 1)[0]
    generator = np.random.default_rng(seed)
    return corrupt(image, corruption=name, severity=3, generator=generator).tobytes()


@pytest.mark.parametrize("name", sorted(CORRUPTIONS))
def test_the_generator_decides_alone(name):
    assert damaged(name, 1) == damaged(name, 1)
    assert (damaged(name, 1) != damaged(name, 2)) == (name in RANDOM)


def test_the_registered_function_is_applied_with_the_strength_of_the_severity():
    image = embedded_pictures("scenes", 1)[0]
    item = CORRUPTIONS["contrast"]
    expected = to_image(item.apply(to_pixels(image), kept=0.2, generator=np.random.default_rng(0)))
    got = corrupt(image, corruption="contrast", severity=4, generator=np.random.default_rng(0))
    assert got.tobytes() == expected.tobytes()


def test_what_is_no_corruption_severity_or_picture_is_refused():
    generator = np.random.default_rng(0)
    image = Image.new("RGB", (4, 4))
    with pytest.raises(
        UnknownName, match=r"unknown corruption 'gausian_noise'. Did you mean 'gaussian_noise'"
    ):
        corruption_named("gausian_noise")
    with pytest.raises(InvalidInput, match="severity must be one of 1, 2, 3, 4, 5"):
        corrupt(image, corruption="fog", severity=6, generator=generator)
    with pytest.raises(InvalidInput, match=r"image must be of mode RGB, got L. Give image.convert"):
        corrupt(image.convert("L"), corruption="fog", severity=1, generator=generator)
