from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from tests.oracles import softmax_regression as oracle
from vitgeom.probes.active_problems import ActiveProblems
from vitgeom.probes.basis import rotated_features
from vitgeom.probes.hessian import kronecker_preconditioner

from .test_objective import build


@pytest.fixture
def setting(small, strengths):
    weight = torch.rand(60, 3, generator=torch.Generator().manual_seed(3), dtype=torch.float64)
    weight /= weight.mean(dim=0)
    objective = build(*small, weight=weight)
    active = ActiveProblems(objective, l2=strengths, problems=torch.arange(3))
    start = torch.randn(3, 3, 6, generator=torch.Generator().manual_seed(9), dtype=torch.float64)
    active.line_search(-active.now.gradient + 0.03 * (start - start.mean(dim=1, keepdim=True)))
    assert active.coef.any()
    features = rotated_features(
        objective.x, standardiser=objective.standardiser, basis=objective.basis, chunk_rows=100
    )
    hessian = active.hessian(features)
    penalty = hessian.penalty.clone()
    penalty[:, -1] = 0.0  # the damping of the bias is no part of the objective
    return active, replace(hessian, penalty=penalty), features


def dense(active, features, p, strengths):
    weight = active._objective.row_weight[:, p].numpy()
    return torch.from_numpy(
        oracle.hessian(
            features[:, :-1].double().numpy(),
            active.coef[p, :, :-1].T.numpy(),
            active.coef[p, :, -1].numpy(),
            float(strengths[p]),
            weight,
        )
    )


def test_products_are_those_of_the_dense_hessian(setting, strengths):
    active, hessian, features = setting
    v = torch.randn(3, 3, 6, generator=torch.Generator().manual_seed(5))
    for p in range(3):
        want = dense(active, features, p, strengths) @ v[p].double().T.flatten()
        torch.testing.assert_close(hessian(v)[p].double().T.flatten(), want, rtol=1e-5, atol=1e-6)


def test_it_is_symmetric_and_blind_to_a_constant_bias(setting):
    _, hessian, _ = setting
    a, b = (torch.randn(3, 3, 6, generator=torch.Generator().manual_seed(s)) for s in (6, 7))
    torch.testing.assert_close((a * hessian(b)).sum(), (b * hessian(a)).sum(), rtol=1e-5, atol=1e-6)
    constant = torch.zeros(3, 3, 6)
    constant[:, :, -1] = 1.0
    assert hessian(constant).abs().max() < 1e-6


def test_keep_restricts_operator_and_preconditioner(setting):
    _, hessian, features = setting
    mask = torch.tensor([True, False, True])
    v = torch.randn(3, 3, 6, generator=torch.Generator().manual_seed(5))
    torch.testing.assert_close(hessian.keep(mask)(v[mask]), hessian(v)[mask])
    inverse = kronecker_preconditioner(hessian, variances=features.double().square().mean(dim=0))
    torch.testing.assert_close(inverse.keep(mask)(v[mask]), inverse(v)[mask])


def test_preconditioner_is_exact_when_all_rows_have_the_same_probabilities(small, strengths):
    objective = build(*small)
    active = ActiveProblems(objective, l2=strengths, problems=torch.arange(3))  # at zero: p = 1/K everywhere
    features = rotated_features(
        objective.x, standardiser=objective.standardiser, basis=objective.basis, chunk_rows=100
    )
    hessian = active.hessian(features)
    variances = torch.cat([objective.basis.variances, torch.ones(1, dtype=torch.float64)])
    inverse = kronecker_preconditioner(hessian, variances=variances)
    v = torch.randn(3, 3, 6, generator=torch.Generator().manual_seed(5))
    v -= v.mean(dim=1, keepdim=True)  # a constant over classes is projected out
    torch.testing.assert_close(inverse(hessian(v)), v, rtol=1e-3, atol=2e-3)


def test_preconditioner_is_positive(setting):
    _, hessian, features = setting
    inverse = kronecker_preconditioner(hessian, variances=features.double().square().mean(dim=0))
    v = torch.randn(3, 3, 6, generator=torch.Generator().manual_seed(8))
    assert ((v * inverse(v)).sum(dim=(1, 2)) > 0).all()


def test_preconditioner_projects_a_constant_over_classes_out(setting):
    _, hessian, features = setting
    inverse = kronecker_preconditioner(hessian, variances=features.double().square().mean(dim=0))
    v = torch.randn(3, 1, 6, generator=torch.Generator().manual_seed(8)).expand(-1, 3, -1)
    assert inverse(v).abs().max() < 1e-2  # of about 1e4 at lambda = 1e-4 if it were divided by lambda
