from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits

from vitgeom.data.digits import open_digits
from vitgeom.errors import InvalidInput


@pytest.fixture(scope="module")
def digits():
    return open_digits()


def test_every_digit_of_the_source_is_in_one_split_with_its_own_label(digits):
    source = load_digits()
    seen = []
    for split in digits.splits.values():
        rows = [int(name.split("-")[1]) for name in split.sample_ids]
        np.testing.assert_array_equal(split.labels, source.target[rows])
        seen += rows
    assert sorted(seen) == list(range(1797))
    assert [digits.classes[label] for label in (0, 9)] == ["0", "9"]


def test_at_the_original_size_the_pixels_are_those_of_the_source():
    source = load_digits().images
    split = open_digits(size=8).splits["test"]
    for row in (0, 17, len(split) - 1):
        image = np.asarray(split.read(row)).astype(float)
        original = source[int(split.sample_ids[row].split("-")[1])]
        np.testing.assert_allclose(image, np.repeat(original[..., None], 3, axis=2) * 255 / 16, atol=0.5)


def test_enlarged_images_keep_their_mean_grey(digits):
    small, large = open_digits(size=8).splits["val"], digits.splits["val"]
    for row in range(5):
        assert large.read(row).size == (64, 64)
        assert np.asarray(large.read(row)).mean() == pytest.approx(np.asarray(small.read(row)).mean(), abs=6)


def test_splits_are_stratified(digits):
    for split in digits.splits.values():
        shares = np.bincount(split.labels, minlength=10) / len(split)
        assert np.abs(shares - 0.1).max() < 0.01


def test_the_digest_depends_on_the_size_alone(digits):
    assert digits.digest == open_digits(size=64).digest != open_digits(size=32).digest


def test_too_small_a_size_is_refused():
    with pytest.raises(InvalidInput, match="option 'size' must be a whole number >= 8, got 4"):
        open_digits(size=4)
