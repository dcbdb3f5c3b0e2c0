from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from tests.support.pictures import EMBEDDED, difference, embedded_pictures
from vitgeom.data.corruptions import CORRUPTIONS, SEVERITIES, corrupt
from vitgeom.seeding import derive_seed

by_corruption = pytest.mark.parametrize("name", sorted(CORRUPTIONS))


@pytest.fixture(scope="module")
def pictures():
    return {dataset: embedded_pictures(dataset, 12) for dataset in EMBEDDED}


def damaged(image, name, severity, number):
    generator = np.random.default_rng(derive_seed(0, name, number))
    return corrupt(image, corruption=name, severity=severity, generator=generator)


def test_names_are_those_of_the_registered_corruptions():
    assert len(CORRUPTIONS) == 16
    assert all(item.name == name for name, item in CORRUPTIONS.items())


@by_corruption
@pytest.mark.parametrize("dataset", EMBEDDED)
def test_distance_from_the_clean_picture_grows_with_severity(pictures, dataset, name):
    distances = [
        np.mean(
            [
                difference(image, damaged(image, name, severity, number))
                for number, image in enumerate(pictures[dataset])
            ]
        )
        for severity in SEVERITIES
    ]
    assert distances[0] > 0
    assert all(weaker < stronger for weaker, stronger in pairwise(distances)), distances


@by_corruption
def test_the_strongest_damage_leaves_something_of_the_picture(pictures, name):
    """A damaged picture is, in its middle frequencies, more like its own original than like the others."""
    images = pictures["scenes"]

    def coarse(image):
        small = np.asarray(image.convert("L").resize((12, 12)), dtype=float).ravel()
        return (small - small.mean()) / (small.std() + 1e-9)

    originals = np.stack([coarse(image) for image in images])
    found = [
        int((originals @ coarse(damaged(image, name, 5, number))).argmax())
        for number, image in enumerate(images)
    ]
    assert np.mean(np.array(found) == np.arange(len(images))) >= 0.5


@by_corruption
@pytest.mark.parametrize("size", [(1, 1), (2, 7), (33, 20), (300, 230)])
def test_every_shape_of_picture_is_taken_and_kept(name, size):
    image = embedded_pictures("photos", 1)[0].resize(size)
    before = image.tobytes()
    for severity in (1, 5):
        result = damaged(image, name, severity, 0)
        assert (result.size, result.mode) == (size, "RGB")
    assert image.tobytes() == before
