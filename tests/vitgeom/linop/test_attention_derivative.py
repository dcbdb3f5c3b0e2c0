from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from vitgeom.backbones import NormWeights
from vitgeom.backbones.block_weights import AttentionWeights, LinearWeights
from vitgeom.linop.attention_derivative import AttentionAt

TOKENS, WIDTH, HEADS = 5, 6, 2


def drawn(*shape: int, seed: int) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def weights_of(*, normed: bool) -> AttentionWeights:
    norm = NormWeights(drawn(3, seed=1), drawn(3, seed=2), 1e-6) if normed else None
    qkv = LinearWeights(drawn(3 * WIDTH, WIDTH, seed=3), drawn(3 * WIDTH, seed=4))
    proj = LinearWeights(drawn(WIDTH, WIDTH, seed=5), None)
    return AttentionWeights(qkv, HEADS, norm, norm, proj, scale=0.7)


def written_by_hand(weights: AttentionWeights, x: Tensor, rows: int) -> Tensor:
    """One head after another, one query after another."""
    q, k, v = F.linear(x, weights.qkv.weight, weights.qkv.bias).chunk(3, dim=-1)
    heads = []
    for qh, kh, vh in zip(*(part.chunk(HEADS, dim=-1) for part in (q, k, v)), strict=True):
        if weights.q_norm is not None:
            qh, kh = (
                F.layer_norm(part, (3,), weights.q_norm.weight, weights.q_norm.bias, 1e-6)
                for part in (qh, kh)
            )
        heads.append(torch.stack([(weights.scale * kh @ query).softmax(dim=0) @ vh for query in qh[:rows]]))
    return F.linear(torch.cat(heads, dim=-1), weights.proj.weight)


@pytest.mark.parametrize("normed", [True, False])
@pytest.mark.parametrize("rows", [1, 3, TOKENS])
def test_value_and_both_derivatives(normed: bool, rows: int) -> None:
    weights, x = weights_of(normed=normed), drawn(TOKENS, WIDTH, seed=6)
    attention = AttentionAt(weights, x, rows=rows)
    jacobian = torch.autograd.functional.jacobian(lambda y: written_by_hand(weights, y, rows), x)
    jacobian = jacobian.reshape(rows * WIDTH, TOKENS * WIDTH)
    dx, g = drawn(4, TOKENS, WIDTH, seed=7), drawn(4, rows, WIDTH, seed=8)
    kept = dx.clone(), g.clone()
    torch.testing.assert_close(attention.output, written_by_hand(weights, x, rows))
    torch.testing.assert_close(attention.push(dx).flatten(1), dx.flatten(1) @ jacobian.mT)
    torch.testing.assert_close(attention.pull(g).flatten(1), g.flatten(1) @ jacobian)
    assert torch.equal(dx, kept[0])
    assert torch.equal(g, kept[1])
