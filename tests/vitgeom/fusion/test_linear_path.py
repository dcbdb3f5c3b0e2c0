from __future__ import annotations

import pytest
import torch

from tests.oracles.softmax_regression import solve
from tests.support.layered_features import layered_features
from vitgeom.fusion.linear_path import fit_penalised_linear
from vitgeom.fusion.staged_rows import SHARE, staged
from vitgeom.probes.row_file import RowFile


def uncorrelated(rows: int, width: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    x, y = layered_features(rows, 1, width, 3)
    z = x[:, 0].double() - x[:, 0].double().mean(dim=0)
    variances, directions = torch.linalg.eigh(z.T @ z / rows)
    return (z @ directions).float(), y, variances


def with_ones(x: torch.Tensor, *, in_file: bool = False) -> torch.Tensor | RowFile:
    features = torch.cat([x, torch.ones(len(x), 1)], dim=1)
    budget = 0 if in_file else SHARE * features.nbytes
    return staged([features], num_rows=len(x), width=features.shape[1], byte_budget=budget)


@pytest.mark.parametrize("in_file", [False, True])
def test_every_strength_is_the_optimum_on_the_coordinates_as_they_are(in_file):
    x, y, variances = uncorrelated(80, 5)
    l2 = torch.tensor([1e-2, 1.0], dtype=torch.float64)
    features = with_ones(x, in_file=in_file)
    path = fit_penalised_linear(features, y, variances=variances, num_classes=3, l2=l2, tol=1e-7)
    assert bool(path.converged.all())
    for number, strength in enumerate(l2.tolist()):
        weight, bias = solve(x.double().numpy(), y.numpy(), strength, num_classes=3)
        torch.testing.assert_close(path.weight[number], torch.from_numpy(weight), atol=1e-5, rtol=1e-4)
        torch.testing.assert_close(path.bias[number], torch.from_numpy(bias), atol=1e-5, rtol=1e-4)
        expected = x.double() @ path.weight[number] + path.bias[number]
        torch.testing.assert_close(path.logits(x)[:, number], expected)


def test_scaling_a_coordinate_up_lets_it_speak_louder():
    x, y, variances = uncorrelated(80, 5)
    l2 = torch.tensor([10.0], dtype=torch.float64)
    plain = fit_penalised_linear(with_ones(x), y, variances=variances, num_classes=3, l2=l2)
    factor = torch.tensor([1.0, 1.0, 1.0, 1.0, 10.0])
    loud = fit_penalised_linear(
        with_ones(x * factor), y, variances=variances * factor.double().square(), num_classes=3, l2=l2
    )
    effect = [
        (path.weight[0, -1].norm() * (x * by)[:, -1].std()) for path, by in ((plain, 1.0), (loud, factor))
    ]
    assert effect[1] > 2 * effect[0]


@pytest.mark.parametrize("in_file", [False, True])
def test_no_coordinates_leave_the_class_frequencies(in_file):
    _, y, _ = uncorrelated(60, 3)
    path = fit_penalised_linear(
        with_ones(torch.zeros(60, 0), in_file=in_file),
        y,
        variances=torch.zeros(0, dtype=torch.float64),
        num_classes=3,
        l2=torch.ones(1, dtype=torch.float64),
        tol=1e-8,
    )
    assert path.weight.shape == (1, 0, 3)
    assert torch.equal(path.logits(torch.zeros(2, 0)), path.bias.expand(2, 1, 3))
    expected = torch.bincount(y, minlength=3).double() / 60
    torch.testing.assert_close(torch.softmax(path.bias[0], dim=0), expected, atol=1e-6, rtol=0)
