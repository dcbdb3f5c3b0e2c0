from __future__ import annotations

import torch

from vitgeom.metric.bottleneck.cosine_slots import cosine_bank, slots_of
from vitgeom.metric.bottleneck.encoder import LOG_VARIANCE_BOUND, RegisterEncoder
from vitgeom.metric.bottleneck.register_rotation import RegisterRotation
from vitgeom.metric.bottleneck.shape import BottleneckShape

SHAPE = BottleneckShape(5, 1, registers=3, latent=2, hidden=8, blocks=2, heads=2, waves=2)
GRID = (2, 3)
STILL = RegisterRotation(3, 2, principal=1)


def drawn(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def test_attention_adds_nothing_at_first():
    encoder, tokens = RegisterEncoder(SHAPE), drawn(4, 7, 5)
    mean, log_variance = encoder(tokens, grid=GRID, rotation=STILL)
    bank = cosine_bank(GRID, waves=2, dtype=tokens.dtype, device=tokens.device)
    torch.testing.assert_close(mean, encoder.linear(slots_of(tokens, bank), rotation=STILL))
    assert torch.equal(log_variance, torch.zeros(4, 3, 2))


@torch.no_grad()
def test_later_it_sees_what_no_linear_map_of_slots_does():
    encoder = RegisterEncoder(SHAPE)
    torch.nn.init.normal_(encoder.out.weight)
    tokens = drawn(1, 7, 5)
    moved, _ = encoder(tokens + 0.5, grid=GRID, rotation=STILL)
    once, _ = encoder(tokens, grid=GRID, rotation=STILL)
    twice, _ = encoder(tokens + 1.0, grid=GRID, rotation=STILL)
    assert not torch.allclose(moved - once, twice - moved, atol=1e-3)


@torch.no_grad()
def test_the_log_variance_stays_within_its_bound():
    encoder = RegisterEncoder(SHAPE)
    encoder.base_log_variance.copy_(torch.tensor([[1e6, -1e6]] * 3))
    _, log_variance = encoder(drawn(2, 7, 5), grid=GRID, rotation=STILL)
    assert float(log_variance.abs().max()) <= LOG_VARIANCE_BOUND
    assert torch.equal(log_variance.sign()[0], torch.tensor([[1.0, -1.0]] * 3))


def test_any_grid_gives_as_many_registers():
    encoder = RegisterEncoder(SHAPE)
    for grid in ((1, 1), (5, 4)):
        mean, log_variance = encoder(drawn(2, 1 + grid[0] * grid[1], 5), grid=grid, rotation=STILL)
        assert mean.shape == log_variance.shape == (2, 3, 2)
