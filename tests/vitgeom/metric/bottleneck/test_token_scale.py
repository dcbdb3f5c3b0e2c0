from __future__ import annotations

import torch

from vitgeom.metric.bottleneck.token_scale import TokenScale


def drawn(*shape: int) -> torch.Tensor:
    return torch.randn(shape, dtype=torch.float64, generator=torch.Generator().manual_seed(0))


def fitted(tokens: torch.Tensor, num_prefix: int) -> TokenScale:
    scale = TokenScale(tokens.shape[2], num_prefix=num_prefix).double()
    scale.fit(tokens.mean(0), tokens.var(0, correction=0))
    return scale


def test_patches_share_their_moments_and_prefix_tokens_have_their_own():
    tokens = drawn(40, 6, 3) * torch.tensor([1.0, 5.0, 2.0]) + 4
    tokens[:, 0] *= 100
    scale = fitted(tokens, 1)
    found = scale.standardised(tokens)
    for part in (found[:, :1], found[:, 1:]):
        torch.testing.assert_close(part.mean((0, 1)), torch.zeros(3, dtype=torch.float64))
        torch.testing.assert_close(part.flatten(0, 1).std(0, correction=0), torch.ones(3).double())
    torch.testing.assert_close(scale.restored(found), tokens)


def test_a_channel_that_never_changes_becomes_zero():
    tokens = drawn(10, 4, 2)
    tokens[:, :, 1] = 7
    found = fitted(tokens, 0).standardised(tokens)
    assert torch.equal(found[:, :, 1], torch.zeros(10, 4, dtype=torch.float64))


def test_the_numbers_fit_another_grid():
    tokens = drawn(30, 5, 3)
    scale = fitted(tokens, 1)
    more = torch.cat([tokens, tokens[:, 1:]], dim=1)
    torch.testing.assert_close(scale.standardised(more)[:, 5:], scale.standardised(tokens)[:, 1:])
    assert scale.deviations(9).shape == (9, 3)


def test_without_prefix_all_tokens_are_patches():
    scale = fitted(drawn(20, 4, 2), 0)
    assert torch.equal(scale.deviations(2)[0], scale.deviations(2)[1])
