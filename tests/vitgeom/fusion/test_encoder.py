from __future__ import annotations

import torch
from torch.nn.functional import gelu

from vitgeom.fusion.decorrelated import Factors
from vitgeom.fusion.encoder import EncoderHead, initial_models
from vitgeom.seeding import generator_for


def models(hidden_dim: int = 6, count: int = 3) -> EncoderHead:
    g = generator_for(0, "factors")
    factors = Factors(
        torch.randn(5, 4, generator=g, dtype=torch.float64),
        torch.randn(4, 3, generator=g, dtype=torch.float64),
    )
    bias = torch.tensor([0.1, 0.2, -0.3], dtype=torch.float64)
    generators = [generator_for(seed, "encoder") for seed in range(count)]
    return initial_models(factors, bias, hidden_dim=hidden_dim, generators=generators)


def test_all_models_start_as_the_linear_stage():
    start = models()
    u = torch.randn(1, 7, 5, generator=generator_for(1, "u")).expand(3, 7, 5)

    logits = start.logits(start.latents(u))

    wanted = u[0] @ start.direct[0] @ start.head[0] + start.head_bias[0]
    torch.testing.assert_close(logits, wanted.expand(3, 7, 3))
    assert not torch.equal(start.enter[0], start.enter[1]), "hidden units differ by seed"


def test_models_side_by_side_are_the_models_one_by_one():
    start = models()
    start.leave = torch.randn(start.leave.shape, generator=generator_for(2, "B"))
    u = torch.randn(3, 7, 5, generator=generator_for(1, "u"))

    together = start.logits(start.latents(u))

    for number in range(3):
        hidden = gelu(u[number] @ start.enter[number] + start.enter_bias[number])
        z = u[number] @ start.direct[number] + hidden @ start.leave[number]
        torch.testing.assert_close(together[number], z @ start.head[number] + start.head_bias[number])
        alone = start.model(number)
        torch.testing.assert_close(alone.logits(alone.latents(u[number : number + 1]))[0], together[number])


def test_dropped_units_say_nothing_and_the_others_make_up_for_it():
    start = models(count=1)
    start.leave = torch.randn(start.leave.shape, generator=generator_for(2, "B"))
    u = torch.randn(1, 4, 5, generator=generator_for(1, "u"))
    keep = torch.zeros(1, 4, 6, dtype=torch.bool)
    keep[..., :3] = True

    z = start.latents(u, keep=keep, kept=0.5)

    hidden = gelu(u[0] @ start.enter[0])
    hidden[:, 3:] = 0.0
    torch.testing.assert_close(z[0], u[0] @ start.direct[0] + 2.0 * hidden @ start.leave[0])


def test_no_hidden_units_is_a_linear_encoder():
    start = models(hidden_dim=0)
    u = torch.randn(3, 4, 5, generator=generator_for(1, "u"))

    torch.testing.assert_close(start.latents(u), u @ start.direct)


def test_a_copy_shares_nothing():
    start = models()
    copy = start.copy()
    copy.head.zero_()

    assert bool(start.head.any())
