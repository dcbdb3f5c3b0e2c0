from __future__ import annotations

import torch

from vitgeom.decoders.trunk import BackboneTrunk, Trunk


def test_it_says_what_the_backbone_is(registers):
    trunk = BackboneTrunk(registers)
    assert isinstance(trunk, Trunk)
    assert (trunk.name, trunk.num_blocks, trunk.tokens_shape) == ("nano_selfsup", 12, (69, 96))
    assert (trunk.dtype, trunk.device) == (torch.float64, torch.device("cpu"))


def test_layers_compose_to_the_models_own_forward_pass(registers, picture):
    trunk = BackboneTrunk(registers)
    half = trunk.blocks(trunk.embed(picture[None].double()), 0, 5)
    own = registers.model.forward_features(picture[None].double())
    torch.testing.assert_close(registers.finish(trunk.blocks(half, 5, 12)), own)
