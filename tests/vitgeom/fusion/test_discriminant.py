from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.nn.functional import one_hot

from tests.oracles.leave_one_out import ridge_scores_without_row
from vitgeom.fusion.discriminant import RidgeStatistics
from vitgeom.seeding import generator_for


def uncorrelated(num_rows: int, rank: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return centred coordinates with a diagonal covariance, and their mean squares."""
    x = torch.randn(num_rows, rank, generator=generator_for(0, "x"), dtype=torch.float64)
    left, size, _ = torch.linalg.svd(x - x.mean(dim=0), full_matrices=False)
    x = (left * size).float()
    return x, x.double().square().mean(dim=0)


@pytest.mark.parametrize("ridge", [1e-3, 0.1, 10.0])
@pytest.mark.parametrize(("num_rows", "rank"), [(40, 6), (20, 19)])
def test_leaving_one_out_equals_refitting_without_it(num_rows, rank, ridge):
    x, variances = uncorrelated(num_rows, rank)
    target = torch.arange(num_rows) % 3
    statistics = RidgeStatistics.of(x, target, variances=variances, num_classes=3)
    indicator = one_hot(target, 3).double() - statistics.prior

    found = statistics.leave_one_out(x, target, ridge=ridge)

    wanted = ridge_scores_without_row(x.double().numpy(), indicator.numpy(), penalty=num_rows * ridge)
    np.testing.assert_allclose(found.numpy(), wanted, atol=2e-4 if rank + 1 == num_rows else 1e-5)


def test_the_weights_solve_the_ridge_problem():
    x, variances = uncorrelated(30, 5)
    target = torch.arange(30) % 4
    statistics = RidgeStatistics.of(x, target, variances=variances, num_classes=4)

    weight = statistics.solve(0.3).weight

    wide, indicator = x.double(), one_hot(target, 4).double() - statistics.prior
    gradient = wide.T @ (wide @ weight - indicator) / 30 + 0.3 * weight
    assert float(gradient.abs().max()) < 1e-6
    assert float(weight.sum(dim=1).abs().max()) < 1e-7, "class indicators sum to 1"


def test_a_huge_ridge_says_nothing():
    x, variances = uncorrelated(30, 5)
    statistics = RidgeStatistics.of(x, torch.arange(30) % 2, variances=variances, num_classes=2)

    assert float(statistics.solve(1e12).scores(x).abs().max()) < 1e-9
