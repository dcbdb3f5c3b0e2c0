from __future__ import annotations

import pytest
import torch

from vitgeom.backbones import EMBEDDED, load_backbone
from vitgeom.decoders import DECODERS, TappedDecoder, decoders_for, load_decoder, output_shape
from vitgeom.errors import InvalidInput, UnknownName

SHAPES = {
    "cls": (96,),
    "patch_mean": (96,),
    "pooled": (96,),
    "scenes_depth": (1, 64, 64),
    "scenes_points": (3, 64, 64),
    "scenes_camera": (9,),
}


@pytest.mark.parametrize("name", EMBEDDED)
def test_every_decoder_opens_on_the_embedded_backbones(name):
    backbone = load_backbone(name)
    assert decoders_for(backbone) == tuple(DECODERS)
    shapes = {**SHAPES, "tokens": (backbone.spec.layout.num_tokens, 96)}
    for decoder_name in DECODERS:
        decoder = load_decoder(decoder_name, backbone, layer=4)
        assert isinstance(decoder, TappedDecoder)
        assert (decoder.name, decoder.layer) == (decoder_name, 4)
        assert output_shape(decoder) == shapes[decoder_name]


@pytest.mark.parametrize("name", list(DECODERS))
def test_single_precision_gives_single_precision(name, picture):
    bound = load_decoder(name, load_backbone("nano_supervised"), layer=10).at(picture)
    assert bound(bound.features).dtype == torch.float32


def test_a_backbone_without_class_token_or_heads_has_the_rest(headless, nano):
    assert decoders_for(headless) == ("patch_mean", "pooled", "tokens")
    random = load_backbone("nano_supervised", pretrained=False)
    assert decoders_for(random) == ("cls", "patch_mean", "pooled", "tokens")


def test_an_unknown_name_is_refused_with_the_nearest(nano):
    with pytest.raises(UnknownName, match=r"unknown decoder 'scene_depth'. Did you mean 'scenes_depth'"):
        load_decoder("scene_depth", nano, layer=1)


@pytest.mark.parametrize("name", list(DECODERS))
def test_a_layer_out_of_range_is_refused_by_each(nano, name):
    with pytest.raises(
        InvalidInput, match=rf"layer=13 of decoder '{name}' must be a whole number in 0\.\.12"
    ):
        load_decoder(name, nano, layer=13)
