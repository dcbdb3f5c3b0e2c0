from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from vitgeom.backbones.block_weights import LinearWeights, MlpWeights
from vitgeom.linop.mlp_derivative import MlpAt


def drawn(*shape: int, seed: int) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def weights_of(gated: str | None, bias: bool) -> MlpWeights:
    hidden = 8 if gated else 5
    out = hidden // 2 if gated else hidden
    fc1 = LinearWeights(drawn(hidden, 3, seed=1), drawn(hidden, seed=2) if bias else None)
    return MlpWeights(
        fc1, F.gelu, gated, LinearWeights(drawn(3, out, seed=3), drawn(3, seed=4) if bias else None)
    )


def written_by_hand(weights: MlpWeights, x: Tensor) -> Tensor:
    z = F.linear(x, weights.fc1.weight, weights.fc1.bias)
    first, last = z.chunk(2, dim=-1)
    if weights.gated == "first":
        z = F.gelu(first) * last
    elif weights.gated == "last":
        z = first * F.gelu(last)
    else:
        z = F.gelu(z)
    return F.linear(z, weights.fc2.weight, weights.fc2.bias)


@pytest.mark.parametrize("gated", [None, "first", "last"])
@pytest.mark.parametrize("bias", [True, False])
def test_value_and_both_derivatives(gated: str | None, bias: bool) -> None:
    weights = weights_of(gated, bias)
    x, d = drawn(4, 3, seed=5), drawn(2, 4, 3, seed=6)
    with torch.no_grad():
        mlp = MlpAt(weights, x)
    jacobian = torch.autograd.functional.jacobian(lambda y: written_by_hand(weights, y), x).reshape(12, 12)
    kept = d.clone()
    torch.testing.assert_close(mlp.output, written_by_hand(weights, x))
    torch.testing.assert_close(mlp.push(d).flatten(1), d.flatten(1) @ jacobian.mT)
    torch.testing.assert_close(mlp.pull(d).flatten(1), d.flatten(1) @ jacobian)
    assert torch.equal(d, kept)
