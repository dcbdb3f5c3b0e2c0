"""Scores without a Jacobian, against what the model's own attention computes."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from tests.support.small_backbones import PLAIN, small_backbone, tokens_of
from vitgeom.backbones import Backbone
from vitgeom.errors import InvalidInput
from vitgeom.reduction import cls_attention, feature_norm, random_scores
from vitgeom.seeding import generator_for

WITH_CLS = [name for name, settings in PLAIN.items() if settings.get("class_token", True)]


def attention_by_hook(backbone: Backbone, tokens: Tensor, *, layer: int) -> Tensor:
    """The attention matrix [B, H, N, N] that a block's own module passes to its dropout."""
    attention = backbone.model.blocks[layer].attn
    attention.fused_attn = False
    seen: list[Tensor] = []
    hook = attention.attn_drop.register_forward_pre_hook(lambda module, given: seen.append(given[0]))
    with torch.no_grad():
        backbone.blocks(tokens, layer, layer + 1)
    hook.remove()
    return seen[0]


@pytest.mark.parametrize("form", WITH_CLS)
def test_attention_is_that_of_the_block_itself(form: str) -> None:
    backbone = small_backbone(PLAIN[form])
    tokens = torch.stack([tokens_of(backbone), 2 * tokens_of(backbone)])
    for layer in range(3):
        found = cls_attention(tokens, backbone, layer=layer)
        oracle = attention_by_hook(backbone, tokens, layer=layer)[:, :, 0].mean(dim=1)
        torch.testing.assert_close(found, oracle)
        torch.testing.assert_close(found.sum(dim=-1), torch.ones(2, dtype=found.dtype))


def test_without_a_class_token_there_is_none() -> None:
    backbone = small_backbone(PLAIN["no class token, norm after the pool"])
    with pytest.raises(InvalidInput, match="no class token"):
        cls_attention(tokens_of(backbone)[None], backbone, layer=0)


@pytest.mark.parametrize("layer", [-1, 3])
def test_after_the_last_block_nothing_looks(layer: int) -> None:
    backbone = small_backbone(PLAIN["plain"])
    with pytest.raises(InvalidInput, match=f"layer must lie between 0 and 2 .*, got {layer}"):
        cls_attention(tokens_of(backbone)[None], backbone, layer=layer)


def test_norms_follow_a_permutation_of_the_tokens() -> None:
    tokens = torch.randn(2, 5, 3, generator=generator_for(0, "tokens"))
    order = torch.tensor([3, 1, 4, 0, 2])
    assert torch.equal(feature_norm(tokens[:, order]), feature_norm(tokens)[:, order])
    assert feature_norm(torch.zeros(1, 2, 3)).tolist() == [[0.0, 0.0]]


def test_random_scores_are_those_of_their_seed() -> None:
    one, again, other = (
        random_scores((2, 50), generator=generator_for(seed, "scores")) for seed in (0, 0, 1)
    )
    assert torch.equal(one, again)
    assert not torch.equal(one, other)
    assert one.unique().numel() == 100
