from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from vitgeom.data.noise import open_noise
from vitgeom.errors import InvalidInput


def test_rows_are_fixed_random_and_all_different():
    data, again = open_noise(n=50, size=16), open_noise(n=50, size=16)
    images = [np.asarray(split.read(row)) for split in data.splits.values() for row in range(len(split))]
    assert len({image.tobytes() for image in images}) == 50
    np.testing.assert_array_equal(images[3], np.asarray(again.splits["train"].read(3)))
    assert images[0].shape == (16, 16, 3)
    pixels = np.stack(images).astype(float)
    assert abs(pixels.mean() - 127.5) < 5 * 73.9 / np.sqrt(
        pixels.size
    )  # uniform on 0..255 has standard deviation 73.9


@pytest.mark.parametrize(("n", "counts"), [(5, (3, 1, 1)), (1000, (600, 200, 200)), (1004, (604, 200, 200))])
def test_all_images_are_in_some_split(n, counts):
    data = open_noise(n=n, classes=3)
    assert tuple(len(data.splits[name]) for name in ("train", "val", "test")) == counts
    assert data.classes == ("0", "1", "2")


def test_memory_does_not_grow_with_the_images():
    tracemalloc.start()
    data = open_noise(n=50_000, size=224)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 50_000 * 40
    assert data.splits["train"].sample_ids[29_999] == "noise-train-029999"


def test_the_digest_names_the_options():
    digests = {
        open_noise(**options).digest
        for options in ({}, {"n": 999}, {"classes": 9}, {"size": 63}, {"seed": 1})
    }
    assert len(digests) == 5


def test_too_few_and_too_many_images_and_rows_beyond_the_end_are_refused():
    with pytest.raises(InvalidInput, match="option 'n' must be a whole number >= 5, got 4"):
        open_noise(n=4)
    with pytest.raises(InvalidInput, match="option 'n' must be at most 100,000,000, got 10,000,000,000,000"):
        open_noise(n=10**13)
    with pytest.raises(InvalidInput, match="option 'classes' must be at most 1,000,000"):
        open_noise(classes=10**9)
    with pytest.raises(InvalidInput, match="option 'size' must be at most 16,384"):
        open_noise(size=10**6)
    with pytest.raises(IndexError, match="row 1 is not in this split of 1"):
        open_noise(n=5).splits["val"].read(1)
