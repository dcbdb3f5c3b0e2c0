from __future__ import annotations

import torch

from vitgeom.probes.conjugate_gradient import conjugate_gradient, norm_of
from vitgeom.probes.hessian import kronecker_preconditioner

from .test_hessian import dense, setting  # noqa: F401  the fixture


def solve(setting, rhs, tolerance, max_products=200):  # noqa: F811
    _, hessian, features = setting
    inverse = kronecker_preconditioner(hessian, variances=features.double().square().mean(dim=0))
    return conjugate_gradient(
        hessian, rhs, preconditioner=inverse, tolerance=tolerance, max_products=max_products
    )


def test_it_solves_the_dense_systems(setting, strengths):  # noqa: F811
    active, _, features = setting
    rhs = -active.now.gradient.float()
    got, _ = solve(setting, rhs, torch.full((3,), 1e-5))
    for p in range(3):
        matrix = dense(active, features, p, strengths)
        want = torch.linalg.lstsq(matrix, rhs[p].double().T.flatten()[:, None], driver="gelsd").solution[:, 0]
        torch.testing.assert_close(got[p].double().T.flatten(), want, rtol=2e-3, atol=2e-3)


def test_each_system_stops_at_its_own_tolerance(setting):  # noqa: F811
    active, hessian, _ = setting
    rhs = -active.now.gradient.float()
    tolerance = torch.tensor([0.5, 1e-4, 1e-2])
    got, spent = solve(setting, rhs, tolerance)
    left = norm_of(rhs - hessian(got)) / norm_of(rhs)
    assert (left <= 1.1 * tolerance).all()
    _, spent_by_all = solve(setting, rhs, torch.full((3,), 1e-4))
    assert 3 <= spent < spent_by_all


def test_a_budget_is_kept(setting):  # noqa: F811
    active, *_ = setting
    _, spent = solve(setting, -active.now.gradient.float(), torch.full((3,), 1e-9), max_products=2)
    assert spent == 6


def test_a_zero_right_hand_side_gives_zero(setting):  # noqa: F811
    got, _ = solve(setting, torch.zeros(3, 3, 6), torch.full((3,), 1e-3))
    assert not got.any()
