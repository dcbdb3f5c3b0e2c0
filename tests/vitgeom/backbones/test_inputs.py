from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from vitgeom.backbones.inputs import require_picture, require_pixels
from vitgeom.errors import InvalidInput


def test_pictures_and_prepared_batches_pass():
    picture, batch = Image.new("L", (1, 9)), torch.zeros(1, 3, 8, 8, dtype=torch.float16)
    assert require_picture(picture) is picture
    assert require_pixels(batch) is batch


@pytest.mark.parametrize(
    ("thing", "message"),
    [
        ("cat.jpg", r"got a str\. PIL\.Image\.open\('cat\.jpg'\) gives one"),
        (Path("cat.jpg"), r"PIL\.Image\.open\('cat\.jpg'\) gives one"),
        (np.zeros((8, 8, 3), np.uint8), r"a NumPy array \[8, 8, 3\] of uint8\. PIL\.Image\.fromarray\(x\)"),
        (torch.zeros(3, 8, 8), r"a tensor \[3, 8, 8\] of torch\.float32\. PIL\.Image\.fromarray\(x\.numpy"),
        (None, r"got None\. PIL\.Image\.open\(path\)"),
    ],
)
def test_what_is_no_picture_is_refused_with_the_way_to_one(thing, message):
    with pytest.raises(InvalidInput, match=rf"image must be a PIL\.Image\.Image, .*{message}"):
        require_picture(thing)


@pytest.mark.parametrize("size", [(0, 0), (0, 5), (5, 0)])
def test_a_picture_without_pixels_is_refused(size):
    with pytest.raises(InvalidInput, match=f"image has no pixels: it is {size[0]}x{size[1]}"):
        require_picture(Image.new("RGB", size))


@pytest.mark.parametrize(
    ("thing", "message"),
    [
        (np.zeros((1, 3, 8, 8)), r"a NumPy array \[1, 3, 8, 8\] of float64\. torch\.from_numpy\(x\) makes"),
        ([torch.zeros(3, 8, 8)], r"got a list\. Use backbone\.preprocess_batch"),
        (None, r"got None\. Use backbone\.preprocess_batch"),
        (torch.zeros(3, 8, 8), r"a tensor \[3, 8, 8\].*images\[None\]"),
        (torch.zeros(2, 1, 8, 8), r"a tensor \[2, 1, 8, 8\].*gives that form"),
        (torch.zeros(2, 8, 8, 3), r"a tensor \[2, 8, 8, 3\].*gives that form"),
        (torch.zeros(()), r"a tensor \[\]"),
        (torch.zeros(1, 3, 8, 8, dtype=torch.uint8), r"of torch\.uint8.*Use backbone\.preprocess\(picture\)"),
        (torch.zeros(1, 3, 8, 8, dtype=torch.complex64), r"of torch\.complex64"),
    ],
)
def test_what_is_no_prepared_batch_is_refused_with_the_way_to_one(thing, message):
    with pytest.raises(InvalidInput, match=rf"images must be a float tensor \[b, 3, h, w\].*{message}"):
        require_pixels(thing)


def test_an_empty_batch_is_refused():
    with pytest.raises(InvalidInput, match="images is an empty batch"):
        require_pixels(torch.zeros(0, 3, 8, 8))
