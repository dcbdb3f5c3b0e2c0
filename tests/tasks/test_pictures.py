"""Pictures in result files are small PNGs of what the backbone sees."""

from __future__ import annotations

import base64
import io

from PIL import Image

from tasks.opened import opened_backbone, opened_images
from tasks.pictures import THUMBNAIL, small_pictures
from tests.support.small_extraction import BACKBONE, noise


def test_they_are_small_and_the_same_every_time() -> None:
    backbone = opened_backbone(BACKBONE.to_json(), device="cpu")
    split = opened_images(noise().to_json()).splits["test"]
    one = small_pictures(split, backbone, {"a": 0, "b": 3})
    assert list(one) == ["a", "b"]
    assert one == small_pictures(split, backbone, {"b": 3, "a": 0})
    picture = Image.open(io.BytesIO(base64.b64decode(one["a"])))
    assert picture.format == "PNG"
    assert max(picture.size) <= THUMBNAIL
