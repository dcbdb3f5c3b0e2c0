from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from tasks.target_request import DecoderRef, TargetFootprint, TargetRequest, TargetSettings

FOOTPRINT = TargetFootprint(num_layers=2, num_tokens=5, width=8, image_pixels=64, weight_bytes=100)


def target_request(**changes: Any) -> TargetRequest:
    fields: dict[str, Any] = {
        "store": "store",
        "address": "targets/noise/nano/cls-layer1/00",
        "split": "test",
        "start": 2,
        "stop": 4,
        "images": (7, 9),
        "dataset": {},
        "backbone": {},
        "decoder": DecoderRef(name="cls", layer=1),
        "rank": 3,
        "recipe": "auto",
        "budget": 50,
        "seed": 0,
        "footprint": FOOTPRINT,
    }
    return TargetRequest(**{**fields, **changes})


def test_its_key_says_where_the_result_lies() -> None:
    assert target_request().key == "targets/noise/nano/cls-layer1/00 test[2:4]"


def test_equal_fields_give_equal_digests_and_others_do_not() -> None:
    assert target_request().digest == target_request().digest
    assert len({target_request(**change).digest for change in ({}, {"rank": 4}, {"images": (7, 8)})}) == 3


@pytest.mark.parametrize("images", [(), (7,), (7, 8, 9)])
def test_images_must_be_one_per_row(images: tuple[int, ...]) -> None:
    with pytest.raises(ValidationError, match="images must be one per row of 2:4"):
        target_request(images=images)


@pytest.mark.parametrize(
    "change", [{"rank": 0}, {"budget": 0}, {"images": 0}, {"recipe": "fast"}, {"unknown": 1}]
)
def test_settings_that_make_no_sense_are_refused(change: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match=next(iter(change))):
        TargetSettings(**change)


def test_a_decoder_is_called_by_name_and_layer() -> None:
    assert DecoderRef(name="cls", layer=10).label == "cls-layer10"
