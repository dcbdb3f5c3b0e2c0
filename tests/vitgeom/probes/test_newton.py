from __future__ import annotations

import torch

from vitgeom.probes.basis import rotated_features
from vitgeom.probes.newton import solve

from .test_objective import build


def run(small, l2, **settings):
    objective = build(*small)
    features = rotated_features(
        objective.x, standardiser=objective.standardiser, basis=objective.basis, chunk_rows=100
    )
    settings = {"tol": 1e-6, "max_iter": 100, **settings}
    return objective, solve(objective, features, l2=l2, problems=torch.arange(len(l2)), **settings)


def test_the_certificate_is_the_gradient_at_the_result(small, strengths):
    objective, solution = run(small, strengths)
    here = objective.evaluate(solution.coef, l2=strengths, problems=torch.arange(3))
    zero = objective.evaluate(torch.zeros_like(solution.coef), l2=strengths, problems=torch.arange(3))
    norms = (here.gradient.square().sum(dim=(1, 2)) / zero.gradient.square().sum(dim=(1, 2))).sqrt()
    torch.testing.assert_close(solution.grad_norm, norms, rtol=1e-9, atol=1e-15)
    torch.testing.assert_close(solution.value, here.value)
    assert (norms <= 1e-6).all()
    assert solution.converged.all()


def test_a_problem_solved_alone_ends_at_the_same_point(small, strengths):
    _, together = run(small, strengths)
    for p in range(3):
        _, alone = run(small, strengths[p : p + 1])
        a, b = alone.coef[0], together.coef[p]
        torch.testing.assert_close(a[:, :-1], b[:, :-1], rtol=1e-3, atol=1e-4)
        # A constant over classes in the bias changes nothing and is left where it falls.
        torch.testing.assert_close(
            a[:, -1] - a[:, -1].mean(), b[:, -1] - b[:, -1].mean(), rtol=1e-3, atol=1e-4
        )


def test_too_few_iterations_are_marked_per_problem(small, strengths):
    needed = run(small, strengths)[1].iterations
    fewest = int(needed.min())
    assert fewest < int(needed.max())
    _, solution = run(small, strengths, max_iter=fewest)
    assert torch.equal(solution.converged, needed == fewest)
    assert torch.equal(solution.grad_norm > 1e-6, needed > fewest)
    assert solution.iterations.tolist() == [fewest] * 3


def test_products_are_counted(small, strengths):
    _, few = run(small, strengths, max_iter=1)
    _, many = run(small, strengths)
    assert 3 <= few.products < many.products


def test_a_tighter_tolerance_is_reached_too(small, strengths):
    _, solution = run(small, strengths, tol=1e-10)
    assert (solution.grad_norm <= 1e-10).all()
    assert solution.products < 200
    assert solution.coef.mean(dim=1).abs().max() < 1e-12  # no constant over classes is left behind


def test_a_start_near_the_solution_saves_steps_and_ends_there_too(small, strengths):
    _, rough = run(small, strengths, tol=1e-3)
    whole, going_on = run(small, strengths)[1], run(small, strengths, start=rough.coef)[1]
    assert (going_on.grad_norm <= 1e-6).all()
    assert (going_on.iterations < whole.iterations).all()
    torch.testing.assert_close(going_on.value, whole.value, rtol=1e-9, atol=1e-12)
    assert run(small, strengths, start=whole.coef)[1].iterations.tolist() == [0, 0, 0]
