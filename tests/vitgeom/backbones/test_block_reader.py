from __future__ import annotations

import pytest
import torch
from torch import nn

from tests.support.small_backbones import OTHER, PLAIN, small_backbone
from vitgeom.backbones import OtherBlocks, load_backbone
from vitgeom.backbones.block_reader import read_block, read_norm


def test_weights_are_the_models_own() -> None:
    backbone = small_backbone(PLAIN["query and key norm, layer scale, registers"])
    block = backbone.model.blocks[1]
    weights = read_block(block, name="b")
    assert weights.norm1.weight is block.norm1.weight
    assert weights.norm1.eps == block.norm1.eps
    assert weights.attention.qkv.weight is block.attn.qkv.weight
    assert weights.attention.q_norm is not None
    assert weights.attention.num_heads == 2
    assert weights.attention.scale == pytest.approx(6**-0.5)
    assert weights.scale1 is block.ls1.gamma
    assert weights.mlp.fc2.bias is block.mlp.fc2.bias
    assert weights.mlp.gated is None


@pytest.mark.parametrize(
    ("kind", "gated"), [("gated MLP, gate first", "first"), ("gated MLP, gate last", "last")]
)
def test_the_half_that_gates_is_known(kind: str, gated: str) -> None:
    weights = read_block(small_backbone(PLAIN[kind]).model.blocks[0], name="b")
    assert weights.mlp.gated == gated


def test_missing_parts_are_none() -> None:
    weights = read_block(small_backbone(PLAIN["no biases"]).model.blocks[0], name="b")
    assert weights.attention.qkv.bias is None
    assert weights.attention.q_norm is None
    assert weights.scale2 is None


@pytest.mark.parametrize("kind", list(OTHER))
def test_blocks_of_another_form_are_refused_by_part(kind: str) -> None:
    settings, message = OTHER[kind]
    with pytest.raises(OtherBlocks, match=message):
        small_backbone(settings).block_weights(1, 2)


def test_rotary_blocks_are_refused() -> None:
    backbone = load_backbone("vit_small_patch16_dinov3", image_size=(32, 32), pretrained=False)
    with pytest.raises(OtherBlocks, match=r"blocks\[0\] is a EvaBlock"):
        backbone.block_weights(0, 1)


def test_a_gate_on_attention_is_refused() -> None:
    backbone = small_backbone({})
    backbone.model.blocks[0].attn.gate = nn.Linear(12, 12)
    with pytest.raises(OtherBlocks, match=r"blocks\[0\].attn is gated"):
        backbone.block_weights(0, 1)


def test_a_hook_is_refused() -> None:
    backbone = small_backbone({})
    backbone.model.blocks[2].mlp.fc1.register_forward_hook(lambda *_: None)
    assert len(backbone.block_weights(0, 2)) == 2
    with pytest.raises(OtherBlocks, match=r"blocks\[2\].mlp.fc1 has a hook"):
        backbone.block_weights(0, 3)


def test_a_forward_of_ones_own_is_refused() -> None:
    backbone = small_backbone({})
    backbone.model.blocks[0].attn.forward = lambda x, **_: x
    with pytest.raises(OtherBlocks, match=r"blocks\[0\].attn has a hook or a forward of its own"):
        backbone.block_weights(0, 1)


def test_a_norm_over_more_than_the_last_axis_is_refused() -> None:
    with pytest.raises(OtherBlocks, match="more than the last axis"):
        read_norm(nn.LayerNorm((2, 3)), name="n")


def test_a_subclass_may_compute_something_else() -> None:
    class Doubled(nn.Linear):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return 2 * super().forward(x)

    backbone = small_backbone({})
    backbone.model.blocks[0].attn.proj = Doubled(12, 12)
    with pytest.raises(OtherBlocks, match=r"attn.proj is a Doubled, but only Linear"):
        backbone.block_weights(0, 1)
