from __future__ import annotations

import pytest
import torch
from torch.func import jvp, vmap

from vitgeom.metric.bottleneck.attention import Attention, CrossBlock, SelfBlock


def drawn(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def test_it_is_softmax_attention_query_by_query_and_head_by_head():
    attention = Attention(6, heads=2).double()
    queries, memory = drawn(2, 3, 6), drawn(2, 4, 6, seed=1)
    found = attention(queries, memory)
    for image in range(2):
        q, k, v = (
            layer(x[image])
            for layer, x in ((attention.query, queries), (attention.key, memory), (attention.value, memory))
        )
        for query in range(3):
            heads = []
            for part in (slice(0, 3), slice(3, 6)):
                weights = torch.exp(k[:, part] @ q[query, part] / 3**0.5)
                heads.append(weights / weights.sum() @ v[:, part])
            torch.testing.assert_close(found[image, query], attention.out(torch.cat(heads)))


def test_the_order_of_the_memory_does_not_matter():
    attention, queries, memory = Attention(8, heads=2).double(), drawn(1, 3, 8), drawn(1, 5, 8, seed=1)
    torch.testing.assert_close(attention(queries, memory), attention(queries, memory[:, [3, 1, 4, 0, 2]]))


@pytest.mark.parametrize("block", [CrossBlock, SelfBlock])
def test_blocks_have_forward_derivatives_under_vmap(block):
    built = block(8, heads=2).double().requires_grad_(False)
    memory = drawn(1, 5, 8, seed=1)
    call = (lambda x: built(x, memory)) if block is CrossBlock else built
    x, directions = drawn(1, 3, 8), drawn(4, 1, 3, 8, seed=2)
    found = vmap(lambda v: jvp(call, (x,), (v,))[1])(directions)
    step = 1e-6
    wanted = torch.stack([(call(x + step * v) - call(x - step * v)) / (2 * step) for v in directions])
    torch.testing.assert_close(found, wanted, rtol=1e-6, atol=1e-8)


def test_one_key_is_read_whatever_is_asked():
    attention, memory = Attention(8, heads=4).double(), drawn(1, 1, 8)
    found = attention(drawn(1, 3, 8, seed=1), memory)
    torch.testing.assert_close(found, attention.out(attention.value(memory)).expand(1, 3, 8))
