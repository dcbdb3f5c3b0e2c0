from __future__ import annotations

import numpy as np
import pytest
import torch

from tests.oracles.stacked_layers import convex_weights
from vitgeom.errors import InvalidInput
from vitgeom.fusion.mixture_weights import TOLERANCE, mixture_weights
from vitgeom.seeding import generator_for


def probabilities(rows: int, layers: int, *, seed: int) -> torch.Tensor:
    """Layers agree in part: a common difficulty per row and a quality per layer."""
    g = generator_for(seed, "mixture")
    common = torch.randn(rows, 1, generator=g, dtype=torch.float64)
    own = torch.randn(rows, layers, generator=g, dtype=torch.float64)
    quality = torch.linspace(-0.5, 0.5, layers, dtype=torch.float64)
    return torch.sigmoid(common + 0.7 * own + quality)


def loss(p, w) -> float:
    return float(-np.log(p.numpy() @ np.asarray(w)).mean())


@pytest.mark.parametrize("seed", range(4))
def test_weights_agree_with_a_general_solver(seed):
    p = probabilities(300, 6, seed=seed)
    found = mixture_weights(p)
    oracle = convex_weights(p.numpy())
    np.testing.assert_allclose(found.weight.numpy(), oracle, atol=2e-3)
    assert loss(p, found.weight) <= loss(p, oracle) + TOLERANCE
    assert found.weight.sum() == pytest.approx(1, abs=1e-12)
    assert float(found.weight.min()) >= 0


@pytest.mark.parametrize("max_steps", [1, 3, 1000])
def test_the_gap_bounds_what_is_lost(max_steps):
    p = probabilities(400, 12, seed=9)
    best = loss(p, mixture_weights(p, tol=1e-13).weight)
    found = mixture_weights(p, max_steps=max_steps)
    assert loss(p, found.weight) - best <= found.gap + 1e-13
    assert found.steps <= max_steps
    if max_steps == 1000:
        assert found.gap <= TOLERANCE
        assert found.steps < 60


def test_a_layer_that_is_best_in_every_row_takes_all():
    p = probabilities(50, 3, seed=2)
    p[:, 1] = p.amax(dim=1) + 0.01
    assert mixture_weights(p).weight[1] == pytest.approx(1, abs=1e-6)


def test_equal_layers_share_and_equal_rows_have_no_say():
    p = probabilities(100, 1, seed=3).expand(100, 4)
    found = mixture_weights(p)
    np.testing.assert_allclose(found.weight.numpy(), 0.25, atol=1e-9)
    assert found.steps == 0
    q = probabilities(100, 3, seed=4)
    flat = torch.full((40, 3), 1e-6, dtype=torch.float64)
    np.testing.assert_allclose(
        mixture_weights(torch.cat([q, flat])).weight.numpy(), mixture_weights(q).weight.numpy(), atol=1e-3
    )


def test_a_duplicated_layer_does_not_stop_the_search():
    p = probabilities(200, 3, seed=5)
    doubled = mixture_weights(torch.cat([p, p[:, 2:]], dim=1))
    assert doubled.gap <= TOLERANCE
    single = mixture_weights(p).weight
    assert float(doubled.weight[2] + doubled.weight[3]) == pytest.approx(float(single[2]), abs=1e-3)


@pytest.mark.parametrize("bad", [0.0, -0.1, float("nan")])
def test_what_is_not_positive_is_refused(bad):
    p = probabilities(10, 2, seed=6)
    p[3, 1] = bad
    with pytest.raises(InvalidInput, match="probability must be positive and finite"):
        mixture_weights(p)
