from __future__ import annotations

import pytest
import torch

from vitgeom.fusion.decorrelated import decorrelated_factors
from vitgeom.seeding import generator_for


def problem(num_inputs: int = 12, num_classes: int = 5, rank: int | None = None):
    g = generator_for(0, "problem")
    mixing = torch.randn(num_inputs, rank or num_inputs, generator=g, dtype=torch.float64)
    weight = torch.randn(num_inputs, num_classes, generator=g, dtype=torch.float64)
    return weight - weight.mean(dim=1, keepdim=True), mixing @ mixing.T


@pytest.mark.parametrize("latent_dim", [4, 7, 12])
def test_enough_latents_compute_the_same_logits(latent_dim):
    weight, covariance = problem()

    factors = decorrelated_factors(weight, covariance, latent_dim=latent_dim)

    assert factors.encoder.shape == (12, latent_dim)
    torch.testing.assert_close(factors.encoder @ factors.head, weight, atol=1e-9, rtol=1e-9)


@pytest.mark.parametrize("latent_dim", [2, 4, 12])
def test_latents_are_uncorrelated_and_of_unit_variance(latent_dim):
    weight, covariance = problem()

    encoder = decorrelated_factors(weight, covariance, latent_dim=latent_dim).encoder

    torch.testing.assert_close(
        encoder.T @ covariance @ encoder, torch.eye(latent_dim, dtype=torch.float64), atol=1e-9, rtol=0.0
    )


def test_few_latents_are_the_best_approximation_of_the_logits():
    weight, covariance = problem()
    root = torch.linalg.cholesky(covariance).T
    size = torch.linalg.svdvals(root @ weight)

    factors = decorrelated_factors(weight, covariance, latent_dim=2)

    missing = root @ (factors.encoder @ factors.head - weight)
    assert float(missing.square().sum()) == pytest.approx(float(size[2:].square().sum()))


def test_latents_beyond_the_classes_are_not_listened_to():
    weight, covariance = problem(num_classes=2)

    head = decorrelated_factors(weight, covariance, latent_dim=5).head

    assert float(head[:1].abs().max()) > 0
    assert not bool(head[1:].any())


def test_directions_without_variance_are_left_out():
    weight, covariance = problem(rank=3)

    factors = decorrelated_factors(weight, covariance, latent_dim=3)

    values, axes = torch.linalg.eigh(covariance)
    seen = axes[:, values > 1e-9 * values[-1]]
    torch.testing.assert_close(seen.T @ factors.encoder @ factors.head, seen.T @ weight, atol=1e-9, rtol=1e-9)


def test_weights_of_zero_give_latents_that_say_nothing():
    _, covariance = problem()

    factors = decorrelated_factors(torch.zeros(12, 3, dtype=torch.float64), covariance, latent_dim=4)

    assert not bool(factors.head.any())
    assert bool(torch.isfinite(factors.encoder).all())
