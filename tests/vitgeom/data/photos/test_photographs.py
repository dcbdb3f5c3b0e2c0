from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pytest
import skimage.data
from sklearn.datasets import load_sample_images

from vitgeom.data.photos.photographs import (
    PHOTOGRAPHS,
    Photograph,
    load_photograph,
    photograph_digests,
    photograph_size,
)
from vitgeom.errors import InvalidInput

by_photograph = pytest.mark.parametrize("item", PHOTOGRAPHS, ids=lambda item: item.name)


@by_photograph
def test_each_is_a_photograph_of_useful_size(item):
    image = load_photograph(item)
    assert image.mode == "RGB"
    assert image.size == photograph_size(item)
    assert min(image.size) >= 170
    assert len(np.unique(np.asarray(image))) > 100  # a drawing has few grey levels
    assert photograph_digests()[item.name] == hashlib.sha256(item.path.read_bytes()).hexdigest()


def test_pixels_are_those_that_the_packages_themselves_give():
    by_name = {item.name: np.asarray(load_photograph(item)) for item in PHOTOGRAPHS}
    np.testing.assert_array_equal(by_name["astronaut"], skimage.data.astronaut())
    np.testing.assert_array_equal(by_name["brick"][..., 1], skimage.data.brick())
    np.testing.assert_array_equal(by_name["cat"], skimage.data.chelsea())
    samples = load_sample_images()
    flower = samples.images[[Path(name).name for name in samples.filenames].index("flower.jpg")]
    np.testing.assert_array_equal(by_name["flower"], flower)


def test_the_box_cuts_off_the_black_border_of_the_retina():
    retina = next(item for item in PHOTOGRAPHS if item.name == "retina")
    assert np.asarray(load_photograph(retina)).max(axis=2).min() > 30


def test_names_are_sorted_and_unique():
    names = [item.name for item in PHOTOGRAPHS]
    assert names == sorted(set(names))


@pytest.mark.parametrize(
    ("item", "message"),
    [
        (
            Photograph("x", "skimage", "no_such.png"),
            "'data/no_such.png' was not found in package 'skimage'",
        ),
        (Photograph("x", "sklearn", "no_such.png"), "Install scikit-image >= 0.25 and scikit-learn >= 1.5"),
    ],
)
def test_a_missing_file_is_named_with_the_way_out(item, message):
    with pytest.raises(InvalidInput, match=message):
        _ = item.path
