from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from vitgeom.backbones import NormWeights
from vitgeom.linop.norm_derivative import NormAt


def drawn(*shape: int, seed: int) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@pytest.mark.parametrize("affine", [True, False])
def test_value_and_both_derivatives_are_those_of_layer_norm(affine: bool) -> None:
    weights = (
        NormWeights(drawn(6, seed=1), drawn(6, seed=2), 1e-5) if affine else NormWeights(None, None, 1e-5)
    )
    x, d = drawn(4, 6, seed=3), drawn(3, 4, 6, seed=4)
    norm = NormAt(weights, x)

    def reference(y: Tensor) -> Tensor:
        return F.layer_norm(y, (6,), weights.weight, weights.bias, weights.eps)

    jacobian = torch.autograd.functional.jacobian(reference, x).reshape(24, 24)
    kept = d.clone()
    torch.testing.assert_close(norm.output, reference(x))
    torch.testing.assert_close(norm.push(d).flatten(1), d.flatten(1) @ jacobian.mT)
    torch.testing.assert_close(norm.pull(d).flatten(1), d.flatten(1) @ jacobian)
    assert torch.equal(d, kept)


def test_a_constant_token_is_finite() -> None:
    norm = NormAt(NormWeights(None, None, 1e-6), torch.ones(1, 4))
    assert bool(norm.push(torch.ones(1, 1, 4)).isfinite().all())
