from __future__ import annotations

import pytest
import torch
from torch import nn

from tests.vitgeom.backbones.conftest import KINDS, backbone_of
from vitgeom.backbones.anatomy import (
    Anatomy,
    PlainAnatomy,
    RotaryAnatomy,
    final_norm,
    patch_size,
    read_layout,
)
from vitgeom.backbones.layout import TokenLayout
from vitgeom.backbones.timm_models import anatomy_of


def test_walk_gives_what_timm_gives_after_every_block(backbone, images):
    pixels = images(backbone)
    anatomy = anatomy_of(backbone.model)
    oracle = backbone.model.forward_intermediates(
        pixels, return_prefix_tokens=True, output_fmt="NLC", intermediates_only=True
    )
    walked = list(anatomy.walk(anatomy.embed(pixels), start=0, stop=backbone.spec.num_blocks))
    assert len(walked) == len(oracle) == backbone.spec.num_blocks
    for tokens, theirs in zip(walked, oracle, strict=True):
        patches, prefix = theirs if isinstance(theirs, tuple) else (theirs, theirs[:, :0])
        assert torch.equal(tokens, torch.cat([prefix, patches], dim=1))


def test_walk_can_start_and_stop_anywhere(backbone, images):
    anatomy = anatomy_of(backbone.model)
    tokens = anatomy.embed(images(backbone))
    whole = list(anatomy.walk(tokens, start=0, stop=3))
    again = list(anatomy.walk(whole[0], start=1, stop=3))
    assert torch.equal(again[-1], whole[-1])
    assert list(anatomy.walk(tokens, start=2, stop=2)) == []


@pytest.mark.parametrize(
    ("kind", "layout"),
    [
        ("class token", TokenLayout(1, 0, 0, (4, 4))),
        ("no class token, average pool before the norm", TokenLayout(0, 1, 0, (4, 4))),
        ("distillation token", TokenLayout(1, 0, 1, (4, 4))),
        ("norm before the blocks, rectangular", TokenLayout(1, 0, 0, (2, 4))),
        ("registers", TokenLayout(1, 4, 0, (4, 4))),
        ("rotary, registers", TokenLayout(1, 4, 0, (3, 2))),
        ("convolutional stem", TokenLayout(1, 0, 0, (2, 2))),
        ("embedded, registers", TokenLayout(1, 4, 0, (4, 8))),
    ],
)
def test_layout_is_read_from_the_model(kind, layout, images):
    backbone = backbone_of(kind)
    assert read_layout(backbone.model) == backbone.spec.layout == layout
    assert layout.num_tokens == backbone.embed(images(backbone)).shape[1]
    assert layout.num_prefix == backbone.model.num_prefix_tokens


def test_the_list_of_kinds_covers_what_it_claims():
    models = {kind: backbone_of(kind).model for kind in KINDS}
    assert models["class token"].cls_token is not None
    assert isinstance(models["no class token, average pool before the norm"].norm, nn.Identity)
    assert models["no class token, attention pool"].attn_pool is not None
    assert models["distillation token"].dist_token is not None
    assert models["layer scale, positions on patches only"].no_embed_class
    assert not isinstance(models["layer scale, positions on patches only"].blocks[0].ls1, nn.Identity)
    assert not isinstance(models["norm before the blocks, rectangular"].norm_pre, nn.Identity)
    assert models["rotary, registers"].pos_embed is None
    assert models["rotary and learned positions"].pos_embed is not None
    assert models["rotary per block"].rope_mixed
    assert not isinstance(models["query and key norm"].blocks[0].attn.q_norm, nn.Identity)


def test_families_satisfy_the_protocol(backbone):
    anatomy = anatomy_of(backbone.model)
    assert isinstance(anatomy, Anatomy)
    assert isinstance(
        anatomy, RotaryAnatomy if getattr(backbone.model, "rope", None) is not None else PlainAnatomy
    )


def test_final_norm_is_where_the_model_has_it(backbone):
    model = backbone.model
    norm = final_norm(model)
    assert norm is (model.fc_norm if isinstance(model.norm, nn.Identity) else model.norm)
    assert not isinstance(norm, nn.Identity)


def test_patch_size_counts_the_pixels_of_a_convolutional_stem_too():
    assert patch_size(backbone_of("convolutional stem").model) == (32, 32)
    assert patch_size(backbone_of("class token").model) == (16, 16)
