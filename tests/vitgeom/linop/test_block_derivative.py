from __future__ import annotations

import pytest
import torch

from tests.support.small_backbones import PLAIN, small_backbone, tokens_of
from vitgeom.linop.block_derivative import BlockAt


@pytest.mark.parametrize("kind", ["plain", "query and key norm, layer scale, registers"])
@pytest.mark.parametrize("rows", [1, 6])
def test_value_and_both_derivatives_are_those_of_the_block(kind: str, rows: int) -> None:
    backbone = small_backbone(PLAIN[kind])
    x = tokens_of(backbone, count=6)
    (weights,) = backbone.block_weights(0, 1)
    block = BlockAt(weights, x, rows=rows)
    jacobian = torch.autograd.functional.jacobian(lambda y: backbone.blocks(y[None], 0, 1)[0, :rows], x)
    jacobian = jacobian.reshape(rows * 12, 6 * 12)
    generator = torch.Generator().manual_seed(0)
    dx = torch.randn(4, 6, 12, generator=generator, dtype=torch.float64)
    g = torch.randn(4, rows, 12, generator=generator, dtype=torch.float64)
    kept = dx.clone(), g.clone()
    torch.testing.assert_close(block.output, backbone.blocks(x[None], 0, 1)[0, :rows])
    torch.testing.assert_close(block.push(dx).flatten(1), dx.flatten(1) @ jacobian.mT)
    torch.testing.assert_close(block.pull(g).flatten(1), g.flatten(1) @ jacobian)
    assert torch.equal(dx, kept[0])
    assert torch.equal(g, kept[1])
