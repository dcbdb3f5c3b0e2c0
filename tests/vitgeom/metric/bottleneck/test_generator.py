from __future__ import annotations

import torch

from vitgeom.metric.bottleneck.cosine_slots import cosine_bank, tokens_of
from vitgeom.metric.bottleneck.generator import TokenGenerator
from vitgeom.metric.bottleneck.register_rotation import RegisterRotation
from vitgeom.metric.bottleneck.shape import BottleneckShape

SHAPE = BottleneckShape(5, 1, registers=3, latent=2, hidden=8, blocks=2, heads=2, waves=2)
GRID = (2, 3)
STILL = RegisterRotation(3, 2, principal=1)


def drawn(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def test_attention_adds_nothing_at_first():
    generator, z = TokenGenerator(SHAPE), drawn(4, 3, 2)
    bank = cosine_bank(GRID, waves=2, dtype=z.dtype, device=z.device)
    torch.testing.assert_close(
        generator(z, grid=GRID, rotation=STILL), tokens_of(generator.linear(z, rotation=STILL), bank)
    )


@torch.no_grad()
def test_later_every_register_reaches_every_token():
    generator = TokenGenerator(SHAPE)
    torch.nn.init.normal_(generator.out.weight)
    torch.nn.init.zeros_(generator.linear.mix)
    z = drawn(1, 3, 2)
    for register in range(3):
        moved = z.clone()
        moved[0, register] += 1
        change = (
            (generator(moved, grid=GRID, rotation=STILL) - generator(z, grid=GRID, rotation=STILL))
            .abs()
            .amax(dim=2)
        )
        assert float(change.min()) > 1e-4


def test_any_grid_can_be_asked_for():
    generator = TokenGenerator(SHAPE)
    for grid in ((1, 1), (5, 4)):
        assert generator(drawn(2, 3, 2), grid=grid, rotation=STILL).shape == (2, 1 + grid[0] * grid[1], 5)
