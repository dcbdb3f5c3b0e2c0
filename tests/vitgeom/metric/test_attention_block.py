from __future__ import annotations

import pytest
import torch
from torch import nn

from vitgeom.errors import InvalidInput
from vitgeom.metric.attention_block import AttentionBlock
from vitgeom.seeding import generator_for


def tokens(count: int = 7) -> torch.Tensor:
    return torch.randn(2, count, 12, generator=generator_for(0, "tokens", count))


def test_attention_is_that_of_pytorch() -> None:
    block = AttentionBlock(12, heads=3, mlp_ratio=0.0)
    reference = nn.MultiheadAttention(12, 3, batch_first=True)
    with torch.no_grad():
        reference.in_proj_weight.copy_(block.mix.weight)
        reference.in_proj_bias.copy_(block.mix.bias)
        reference.out_proj.weight.copy_(block.out.weight)
        reference.out_proj.bias.copy_(block.out.bias)
    x = block.norm(tokens())
    torch.testing.assert_close(block(tokens()) - tokens(), reference(x, x, x)[0], rtol=1e-4, atol=1e-5)


def test_the_order_of_tokens_is_no_information_and_any_number_fits() -> None:
    block, x = AttentionBlock(12, heads=4), tokens()
    turned = torch.randperm(7, generator=generator_for(0, "order"))
    torch.testing.assert_close(block(x[:, turned]), block(x)[:, turned], rtol=1e-4, atol=1e-5)
    assert block(tokens(1)).shape == (2, 1, 12)


def test_tokens_see_each_other() -> None:
    block, x = AttentionBlock(12, heads=4), tokens()
    other = x.clone()
    other[:, 3] += 1.0
    assert ((block(x) - block(other))[:, 0].abs() > 0).any()


def test_heads_must_share_the_width() -> None:
    with pytest.raises(InvalidInput, match="heads must divide hidden, got heads=5, hidden=12"):
        AttentionBlock(12, heads=5)
