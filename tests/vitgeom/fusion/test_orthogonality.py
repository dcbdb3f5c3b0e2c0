from __future__ import annotations

import numpy as np
import pytest
import torch

from vitgeom.fusion.orthogonality import VARIANCE_FLOOR, orthogonality
from vitgeom.seeding import generator_for


def latents(models: int = 2, rows: int = 40, dim: int = 5) -> torch.Tensor:
    g = generator_for(0, "z")
    return torch.randn(models, rows, dim, generator=g) @ torch.randn(models, dim, dim, generator=g) * 3


def test_it_is_the_mean_squared_correlation_between_different_latents():
    z = latents()
    wanted = []
    for model in z.double().numpy():
        table = np.corrcoef(model.T)
        pairs = [table[i, j] ** 2 for i in range(5) for j in range(5) if i != j]
        wanted.append(np.mean(pairs))

    assert orthogonality(z).tolist() == pytest.approx(wanted, rel=1e-4)


def test_scale_does_not_matter_until_a_latent_collapses():
    z = latents()

    torch.testing.assert_close(orthogonality(10 * z), orthogonality(z), rtol=1e-4, atol=1e-6)
    assert bool((orthogonality(1e-3 * z) > orthogonality(z) + 0.9 * VARIANCE_FLOOR**2).all())


def test_a_constant_latent_costs_the_floor_and_has_a_finite_gradient():
    z = torch.zeros(1, 8, 3, requires_grad=True)

    value = orthogonality(z)
    value.sum().backward()

    assert float(value.detach()) == pytest.approx(VARIANCE_FLOOR**2, rel=1e-3)
    assert z.grad is not None
    assert bool(torch.isfinite(z.grad).all())


def test_uncorrelated_latents_cost_nothing():
    z = torch.tensor([[[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]]])

    assert float(orthogonality(z)) == pytest.approx(0.0, abs=1e-9)


def test_one_latent_has_no_pair():
    assert float(orthogonality(latents(dim=1))[0]) == 0.0
