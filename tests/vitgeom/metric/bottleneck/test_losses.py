from __future__ import annotations

import torch
from torch.distributions import Normal, kl_divergence

from vitgeom.metric.bottleneck.losses import divergence, share_unexplained


def drawn(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def test_the_divergence_is_that_of_normal_distributions():
    mean, log_variance = drawn(3, 2, 4), drawn(3, 2, 4, seed=1)
    each = kl_divergence(Normal(mean, (log_variance / 2).exp()), Normal(0.0, 1.0))
    torch.testing.assert_close(divergence(mean, log_variance), each.sum((1, 2)))


def test_the_prior_itself_costs_nothing():
    assert torch.equal(divergence(torch.zeros(2, 3, 4), torch.zeros(2, 3, 4)), torch.zeros(2))


def test_guessing_the_mean_leaves_everything_unexplained():
    tokens = drawn(500, 3, 4) * 5
    variance = tokens.var(0, correction=0).mean()
    shares = share_unexplained(tokens.mean(0).expand_as(tokens), tokens, variance=variance)
    torch.testing.assert_close(shares.mean(), torch.ones(()).double())
    assert torch.equal(share_unexplained(tokens, tokens, variance=variance), torch.zeros(500).double())


def test_each_image_is_judged_by_itself():
    wanted, rebuilt, variance = drawn(3, 2, 2), drawn(3, 2, 2, seed=1), torch.tensor(2.0).double()
    alone = torch.cat(
        [share_unexplained(rebuilt[i : i + 1], wanted[i : i + 1], variance=variance) for i in range(3)]
    )
    torch.testing.assert_close(share_unexplained(rebuilt, wanted, variance=variance), alone)
