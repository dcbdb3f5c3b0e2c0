from __future__ import annotations

import numpy as np
import pytest
import torch

from tests.oracles import softmax_regression as oracle
from vitgeom.probes.basis import eigenbasis
from vitgeom.probes.objective import SoftmaxObjective, cross_entropy
from vitgeom.probes.standardise import fit_standardiser


def build(x, y, *, weight=None, chunk_rows=1000):
    standardiser = fit_standardiser(x)
    basis = eigenbasis(x, standardiser=standardiser, chunk_rows=chunk_rows)
    weight = torch.ones(len(x), 1, dtype=torch.float64) if weight is None else weight
    return SoftmaxObjective(x, y, standardiser, basis, weight, 3, chunk_rows)


@pytest.mark.parametrize("chunk_rows", [1000, 7])
def test_value_and_gradient_are_those_of_the_definition(small, strengths, chunk_rows):
    x, y = small
    weight = torch.rand(60, 3, generator=torch.Generator().manual_seed(3), dtype=torch.float64)
    weight /= weight.mean(dim=0)
    objective = build(x, y, weight=weight, chunk_rows=chunk_rows)
    coef = torch.randn(3, 3, 6, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    got = objective.evaluate(coef, l2=strengths, problems=torch.arange(3))
    z, v = oracle.standardise(x.numpy()), objective.basis.directions.numpy()
    for p in range(3):
        w, b = v @ coef[p, :, :-1].T.numpy(), coef[p, :, -1].numpy()
        args = (z, y.numpy(), w, b, float(strengths[p]), weight[:, p].numpy())
        assert float(got.value[p]) == pytest.approx(oracle.objective(*args), rel=1e-12)
        slope, slope_bias = oracle.gradient(*args)
        np.testing.assert_allclose(v @ got.gradient[p, :, :-1].T.numpy(), slope, atol=1e-12)
        np.testing.assert_allclose(got.gradient[p, :, -1], slope_bias, atol=1e-12)
        np.testing.assert_allclose(got.probability[p].T, oracle.probabilities(z, w, b), atol=1e-6)


def test_the_gradient_is_the_derivative(small, strengths):
    objective = build(*small)
    coef = torch.randn(3, 3, 6, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    step = torch.randn(3, 3, 6, generator=torch.Generator().manual_seed(4), dtype=torch.float64)
    problems, h = torch.arange(3), 1e-5
    up, down = (
        objective.evaluate(coef + s * h * step, l2=strengths, problems=problems).value for s in (1, -1)
    )
    slope = (objective.evaluate(coef, l2=strengths, problems=problems).gradient * step).sum(dim=(1, 2))
    torch.testing.assert_close((up - down) / (2 * h), slope, rtol=1e-7, atol=1e-7)


def test_problems_pick_their_own_row_weights(small):
    weight = torch.stack([torch.ones(60), torch.arange(60) / 29.5], dim=1).double()
    objective = build(*small, weight=weight)
    coef = torch.randn(2, 3, 6, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    l2 = torch.tensor([0.1, 0.2], dtype=torch.float64)
    both = objective.evaluate(coef, l2=l2, problems=torch.arange(2))
    second = objective.evaluate(coef[1:], l2=l2[1:], problems=torch.tensor([1]))
    torch.testing.assert_close(second.value, both.value[1:])
    torch.testing.assert_close(second.gradient, both.gradient[1:])


def test_huge_logits_do_not_overflow():
    loss, p = cross_entropy(torch.tensor([[[1e4, -1e4]]], dtype=torch.float64), torch.tensor([1]))
    assert loss.item() == 2e4
    assert p.flatten().tolist() == [1.0, 0.0]
