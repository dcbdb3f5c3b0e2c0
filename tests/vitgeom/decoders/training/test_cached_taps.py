from __future__ import annotations

import torch
from PIL import Image

from vitgeom.backbones import load_backbone
from vitgeom.decoders.head_decoder import as_head_input
from vitgeom.decoders.tapped import tokens_at
from vitgeom.decoders.training.cached_taps import cached_taps
from vitgeom.decoders.training.scene_targets import render_targets
from vitgeom.decoders.trunk import BackboneTrunk


def test_cached_taps_are_what_the_decoder_will_see():
    backbone = load_backbone("nano_selfsup")
    images = render_targets(2, seed=0, stream="test").images
    cached = cached_taps(backbone, images, taps=(3, 12))
    assert cached.shape == (2, 2, 69, 96)
    picture = Image.fromarray(images[1].permute(1, 2, 0).numpy())
    tokens = tokens_at(BackboneTrunk(backbone), backbone.preprocess(picture), layers=[3, 12])
    wanted = torch.stack(as_head_input(backbone, [tokens[3], tokens[12]], normed=True))
    torch.testing.assert_close(cached[1], wanted, rtol=1e-4, atol=1e-4)
