from __future__ import annotations

import json

import numpy as np
import pytest
import torch
from PIL import Image

from vitgeom.backbones.preprocessing import Preprocessing
from vitgeom.errors import InvalidInput

DATA = {
    "input_size": (3, 64, 64),
    "mean": (0.5, 0.4, 0.3),
    "std": (0.2, 0.25, 0.5),
    "interpolation": "bicubic",
    "crop_pct": 1.0,
}


def test_a_picture_of_the_right_size_is_only_normalised():
    pixels = np.random.default_rng(0).integers(0, 256, (64, 64, 3), dtype=np.uint8)
    tensor = Preprocessing(DATA, image_size=(64, 64))(Image.fromarray(pixels))
    expected = (pixels / 255 - DATA["mean"]) / DATA["std"]
    assert tensor.dtype == torch.float32
    np.testing.assert_allclose(tensor.permute(1, 2, 0).numpy(), expected, atol=1e-6)


@pytest.mark.parametrize(
    ("size", "wanted"), [((200, 100), (64, 64)), ((50, 300), (32, 96)), ((7, 7), (64, 64))]
)
def test_any_picture_comes_out_at_the_image_size(size, wanted):
    tensor = Preprocessing(DATA, image_size=wanted)(Image.new("RGB", size, (255, 0, 0)))
    assert tensor.shape == (3, *wanted)
    assert torch.allclose(tensor[0], torch.tensor((1 - 0.5) / 0.2))


@pytest.mark.parametrize("mode", ["L", "RGBA", "P", "CMYK", "1"])
def test_other_modes_become_rgb(mode):
    grey = Image.new("RGB", (64, 64), (255, 255, 255)).convert(mode)
    assert Preprocessing(DATA, image_size=(64, 64))(grey).shape == (3, 64, 64)


def test_a_picture_without_pixels_is_refused():
    with pytest.raises(InvalidInput, match="image has no pixels"):
        Preprocessing(DATA, image_size=(64, 64))(Image.new("RGB", (0, 0)))


def test_the_centre_is_kept_by_a_crop():
    picture = Image.new("RGB", (128, 64), (0, 0, 0))
    picture.paste((255, 255, 255), (32, 0, 96, 64))
    tensor = Preprocessing(DATA, image_size=(64, 64))(picture)
    assert torch.allclose(tensor[0], torch.tensor((1 - 0.5) / 0.2), atol=0.02)


def test_every_parameter_is_recorded_as_json():
    record = Preprocessing({**DATA, "crop_pct": 0.9}, image_size=(64, 96)).to_json()
    assert json.loads(json.dumps(record)) == record
    assert record == {
        "resize": [71, 106],
        "crop": [64, 96],
        "crop_mode": "center",
        "crop_pct": 0.9,
        "interpolation": "bicubic",
        "mean": [0.5, 0.4, 0.3],
        "std": [0.2, 0.25, 0.5],
    }


def test_what_is_seen_is_the_cropped_picture():
    pixels = np.random.default_rng(0).integers(0, 256, (64, 64, 3), dtype=np.uint8)
    same = Preprocessing(DATA, image_size=(64, 64)).seen(Image.fromarray(pixels))
    assert np.abs(np.asarray(same).astype(int) - pixels).max() <= 1
    wide = np.zeros((64, 192, 3), dtype=np.uint8)
    wide[:, 64:128] = 200
    seen = np.asarray(Preprocessing(DATA, image_size=(64, 64)).seen(Image.fromarray(wide)))
    assert seen.shape == (64, 64, 3)
    assert (seen == 200).all(), "the edges beside the crop are not seen"
