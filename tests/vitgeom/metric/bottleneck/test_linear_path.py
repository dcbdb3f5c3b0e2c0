from __future__ import annotations

import pytest
import torch

from vitgeom.metric.bottleneck.linear_path import LinearEncoder, LinearGenerator
from vitgeom.metric.bottleneck.register_rotation import RegisterRotation
from vitgeom.metric.bottleneck.shape import BottleneckShape

SHAPE = BottleneckShape(5, 1, registers=2, latent=3, hidden=4, heads=1, waves=2)

STILL = RegisterRotation(2, 3, principal=1).double()


def drawn(*shape: int) -> torch.Tensor:
    return torch.randn(shape, dtype=torch.float64, generator=torch.Generator().manual_seed(0))


@torch.no_grad()
def test_latents_are_mixtures_of_slots_and_channels():
    encoder, slots = LinearEncoder(SHAPE).double(), drawn(2, 5, 5)
    encoder.offset += 0.7
    encoder.gain *= 2
    found = encoder(slots, rotation=STILL)
    wanted = sum(
        encoder.mix[1, s] * slots[0, s, w] * encoder.channels[w, 2] for s in range(5) for w in range(5)
    )
    assert found.shape == (2, 2, 3)
    assert float(found[0, 1, 2]) == pytest.approx(float(2 * (wanted - 0.7)))


@torch.no_grad()
def test_slots_are_the_mean_and_mixtures_of_latents():
    generator, z = LinearGenerator(SHAPE).double(), drawn(2, 2, 3)
    generator.mean += 0.3
    generator.gain *= 3
    wanted = sum(
        generator.mix[4, r] * z[1, r, c] * generator.channels[c, 0] for r in range(2) for c in range(3)
    )
    assert float(generator(z, rotation=STILL)[1, 4, 0]) == pytest.approx(float(0.3 + 3 * wanted))
    torch.testing.assert_close(generator(torch.zeros_like(z), rotation=STILL)[0], generator.mean)


@torch.no_grad()
def test_the_rotation_stands_between_mixtures_and_gains():
    turn = RegisterRotation(2, 3, principal=4).double()
    turn.fit(torch.linalg.qr(drawn(6, 4)).Q)
    encoder, slots = LinearEncoder(SHAPE).double(), drawn(2, 5, 5)
    encoder.gain.copy_(drawn(2, 3))
    plain = encoder(slots, rotation=STILL) / encoder.gain
    torch.testing.assert_close(encoder(slots, rotation=turn), encoder.gain * turn(plain))
    generator, z = LinearGenerator(SHAPE).double(), drawn(2, 2, 3)
    torch.testing.assert_close(generator(turn(z), rotation=turn), generator(z, rotation=STILL))
