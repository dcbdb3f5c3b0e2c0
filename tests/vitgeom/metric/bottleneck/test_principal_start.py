from __future__ import annotations

import math

import pytest
import torch

from vitgeom.metric.bottleneck import BottleneckVAE
from vitgeom.metric.bottleneck.losses import divergence
from vitgeom.metric.bottleneck.moments import moments
from vitgeom.metric.bottleneck.principal_start import LEAST_SHARE, start_from_principal_components

GRID = (3, 2)
NUMBERS = {"hidden": 8, "heads": 2, "blocks": 1, "waves": 3}


def separable_tokens(count: int = 400) -> torch.Tensor:
    """Mixtures [7 tokens] x [5 channels] of 7 x 5 independent normal numbers with planted deviations, plus a mean."""
    generator = torch.Generator().manual_seed(0)

    def drawn(*shape: int) -> torch.Tensor:
        return torch.randn(shape, dtype=torch.float64, generator=generator)

    places, channels = (torch.linalg.qr(drawn(side, side)).Q for side in (7, 5))
    deviations = torch.outer(2.0 ** -torch.arange(7), 1.5 ** -torch.arange(5)).double()
    return places @ (drawn(count, 7, 5) * deviations) @ channels + drawn(7, 5)


def started(tokens: torch.Tensor, kl_weight: float, *, registers: int = 7, latent: int = 5) -> BottleneckVAE:
    vae = BottleneckVAE(5, 1, registers=registers, latent=latent, **NUMBERS).double()
    found = moments([tokens], name="features")
    vae.scale.fit(found.mean, found.variance)
    vae.token_variance.copy_((found.variance / vae.scale.deviations(7).square()).mean())
    start_from_principal_components(
        vae, tokens.split(100), mean_NW=found.mean, grid=GRID, kl_weight=kl_weight
    )
    return vae


@torch.no_grad()
def error_of(vae: BottleneckVAE, tokens: torch.Tensor, rebuilt: torch.Tensor) -> float:
    scaled = vae.scale.standardised(rebuilt) - vae.scale.standardised(tokens)
    return float(scaled.square().mean() / vae.token_variance)


@torch.no_grad()
def test_with_all_latents_and_free_information_tokens_come_back():
    tokens = separable_tokens()
    vae = started(tokens, 0.0)
    torch.testing.assert_close(vae(tokens, grid=GRID), tokens, rtol=1e-6, atol=1e-6)


@torch.no_grad()
def test_mean_latents_have_mean_zero_and_precision_is_what_the_formula_says():
    tokens = separable_tokens()
    vae = started(tokens, 0.5)
    latents = vae.encode(tokens, grid=GRID)
    torch.testing.assert_close(latents.mean.mean(0), torch.zeros(7, 5).double(), atol=1e-9, rtol=0)
    # E mean^2 + posterior variance = 1, the variance of the prior: no latent could be coded shorter.
    torch.testing.assert_close(
        latents.mean.square().mean(0) + latents.log_variance[0].exp(),
        torch.ones(7, 5).double(),
        rtol=1e-2,  # the bound of log-variances bends them a little
        atol=0,
    )


@torch.no_grad()
def test_no_other_precision_of_the_same_latents_does_better():
    """The expected loss under noise, by drawing: scaling all noise up or down makes it worse, and it is what water-filling predicts."""
    tokens, kl_weight = separable_tokens(2000), 0.2
    vae = started(tokens, kl_weight)

    def loss(shift: float) -> float:
        generator = torch.Generator().manual_seed(1)
        latents = vae.encode(tokens, grid=GRID)
        log_variance = latents.log_variance + shift
        noise = torch.randn(latents.mean.shape, dtype=torch.float64, generator=generator)
        rebuilt = vae.decode(latents.mean + (log_variance / 2).exp() * noise, grid=GRID)
        nats = divergence(latents.mean, log_variance).mean() / tokens[0].numel()
        return error_of(vae, tokens, rebuilt) + kl_weight * float(nats)

    here = loss(0.0)
    assert loss(0.5) > here + 1e-3
    assert loss(-0.5) > here + 1e-3
    level = kl_weight * float(vae.token_variance) / 2
    variance = (vae.generator.linear.gain * vae.encoder.linear.gain**-1).double()  # deviation^2
    lost = (level / variance).clamp(max=1 - LEAST_SHARE)
    distortion = (variance * lost).sum() / 35 / vae.token_variance
    rate = -0.5 * lost.log().sum() / 35
    assert here == pytest.approx(float(distortion + kl_weight * rate), rel=0.02)


@torch.no_grad()
def test_latents_below_the_level_all_but_vanish():
    tokens = separable_tokens()
    few, many = started(tokens, 1.0), started(tokens, 1e-4)
    active = [(vae.encoder.base_log_variance < math.log(0.5)).sum() for vae in (few, many)]
    assert int(active[0]) < 10 < int(active[1])
    assert error_of(few, tokens, few(tokens, grid=GRID)) > 10 * error_of(
        many, tokens, many(tokens, grid=GRID)
    )
    assert float(few.encoder.base_log_variance.max()) <= math.log(1 - LEAST_SHARE) + 1e-9


@torch.no_grad()
def test_fewer_registers_keep_the_strongest_mixtures():
    """2 of 7 places and 2 of 5 channels: the share left out is that of the singular values, up to the standardisation."""
    tokens = separable_tokens()
    errors = [
        error_of(vae, tokens, vae(tokens, grid=GRID))
        for vae in (started(tokens, 0.0, registers=count, latent=count) for count in (1, 2, 4))
    ]
    assert errors == sorted(errors, reverse=True)
    assert errors[0] < 0.9
    assert errors[2] < 0.2


@torch.no_grad()
def test_more_registers_than_slots_stay_unused():
    tokens = separable_tokens()
    vae = started(tokens, 0.0, registers=12, latent=6)
    assert error_of(vae, tokens, vae(tokens, grid=GRID)) < 1e-9
    assert bool(torch.isfinite(vae.encode(tokens, grid=GRID).mean).all())


@torch.no_grad()
def test_latents_become_principal_components_of_whole_pictures():
    """Tokens whose places and channels change together: 3 directions in all, none of them a product of a place and a channel mixture."""
    generator = torch.Generator().manual_seed(3)
    patterns = torch.linalg.qr(torch.randn(35, 3, dtype=torch.float64, generator=generator)).Q
    strengths = torch.randn(200, 3, dtype=torch.float64, generator=generator)
    tokens = (strengths @ patterns.mT).unflatten(1, (7, 5))
    vae = started(tokens, 1e-3)
    active = vae.encoder.base_log_variance < math.log(0.5)
    assert int(active.sum()) == 3
    assert error_of(vae, tokens, vae(tokens, grid=GRID)) < 0.01
    latents = vae.encode(tokens, grid=GRID).mean[:, active]
    torch.testing.assert_close(torch.corrcoef(latents.mT), torch.eye(3).double(), atol=1e-6, rtol=0)


@torch.no_grad()
def test_directions_are_found_from_the_first_images_alone(monkeypatch):
    tokens = separable_tokens(90)
    whole = started(tokens, 0.1)
    monkeypatch.setattr("vitgeom.metric.bottleneck.principal_start.MOST_IMAGES", 20)
    few = started(tokens, 0.1)
    assert int((few.rotation.reflectors.abs().sum(0) > 0).sum()) < int(
        (whole.rotation.reflectors.abs().sum(0) > 0).sum()
    )
    assert error_of(few, tokens, few(tokens, grid=GRID)) < 1.5 * error_of(
        whole, tokens, whole(tokens, grid=GRID)
    )


@pytest.mark.parametrize("kl_weight", [0.0, 0.5])
@torch.no_grad()
def test_other_images_have_latents_of_ordinary_size_where_the_training_images_do_not_vary(kl_weight: float):
    # Four images span three directions; along all others they do not vary at all, and other images do.
    tokens = separable_tokens()
    vae = started(tokens[:4], kl_weight)
    latents = vae.encode(tokens[4:], grid=GRID).mean
    assert latents.abs().max() < 1e3
    # What is not known is left as it is: no worse than the mean image by more than chance would have it.
    assert error_of(vae, tokens[4:], vae(tokens[4:], grid=GRID)) < 2.0
