from __future__ import annotations

import json
import re

import pytest
import torch

from vitgeom.backbones import BackboneRef, load_backbone, open_backbone
from vitgeom.errors import UnknownName


def test_json_round_trip_and_hash():
    ref = BackboneRef.from_options(
        "vit_small_patch14_dinov2", image_size=(224, 196), seed=3, architecture=None
    )
    again = BackboneRef.from_json(json.loads(json.dumps(ref.to_json())))
    assert again == ref
    assert hash(again) == hash(ref)
    assert again.option("image_size") == (224, 196)
    assert again.option("architecture") is None
    assert again.option("pretrained", True) is True


def test_order_of_options_does_not_matter():
    assert BackboneRef("x", (("seed", 1), ("image_size", 32))) == BackboneRef.from_options(
        "x", image_size=32, seed=1
    )


def test_unknown_option_is_refused():
    with pytest.raises(
        UnknownName, match=r"unknown backbone option 'img_size'\. Did you mean 'image_size'\?"
    ):
        BackboneRef.from_options("x", img_size=32)


def test_slug_is_readable_where_the_name_says_everything():
    assert BackboneRef("nano_supervised").slug == "nano_supervised"


@pytest.mark.parametrize(
    "name", ["/data/my weights/ViT (1).pth", "a/b.safetensors", "ünï/çode.pth", "../..", "x" * 300 + "/y"]
)
def test_slug_is_safe_in_a_path(name):
    assert re.fullmatch(r"[A-Za-z0-9_.-]{1,80}", BackboneRef(name).slug)
    assert not BackboneRef(name).slug.startswith(".")


def test_slugs_differ_wherever_references_differ():
    refs = [
        BackboneRef("nano_selfsup"),
        BackboneRef.from_options("nano_selfsup", image_size=32),
        BackboneRef.from_options("nano_selfsup", image_size=40),
        BackboneRef("/a/model.pth"),
        BackboneRef("/b/model.pth"),
    ]
    assert len({ref.slug for ref in refs}) == len(refs)


def test_opening_a_reference_is_loading_with_its_options(images):
    ref = BackboneRef.from_options("nano_selfsup", pretrained=False, seed=5, image_size=(32, 40))
    opened = open_backbone(BackboneRef.from_json(ref.to_json()))
    direct = load_backbone("nano_selfsup", pretrained=False, seed=5, image_size=(32, 40))
    assert opened.spec == direct.spec
    assert torch.equal(opened.capture(images(opened)).mean, direct.capture(images(direct)).mean)


def test_another_image_size_keeps_the_other_options():
    ref = BackboneRef.from_options("x", seed=1, image_size=32)
    assert ref.at_size(None) is ref
    assert ref.at_size(64) == BackboneRef.from_options("x", seed=1, image_size=64)
