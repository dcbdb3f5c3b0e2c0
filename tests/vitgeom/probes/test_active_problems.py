from __future__ import annotations

import pytest
import torch

from vitgeom.probes.active_problems import BIAS_DAMPING, SMALLEST_SCALE, ActiveProblems

from .test_objective import build


@pytest.fixture
def active(small, strengths):
    return ActiveProblems(build(*small), l2=strengths, problems=torch.arange(3))


def test_all_start_at_zero_with_relative_gradient_1(active):
    assert not active.coef.any()
    torch.testing.assert_close(active.grad_norm, torch.ones(3, dtype=torch.float64))


def test_a_downhill_step_lowers_every_objective_and_state_belongs_to_the_new_point(active, strengths):
    before = active.now.value
    assert (active.line_search(-active.now.gradient) > 0).all()
    assert (active.now.value < before).all()
    again = active._objective.evaluate(active.coef, l2=strengths, problems=torch.arange(3))
    torch.testing.assert_close(again.gradient, active.now.gradient)
    torch.testing.assert_close(again.probability, active.now.probability)


def test_only_the_step_that_is_too_long_is_halved(active, strengths):
    step = -active.now.gradient * torch.tensor([1.0, 1e4, 1.0], dtype=torch.float64)[:, None, None]
    length = active.line_search(step)
    assert length[[0, 2]].tolist() == [1, 1]
    torch.testing.assert_close(active.coef, length[:, None, None] * step)
    assert 0 < length[1] < 0.01
    assert float(length[1].log2()).is_integer()
    again = active._objective.evaluate(active.coef, l2=strengths, problems=torch.arange(3))
    torch.testing.assert_close(again.value, active.now.value)
    torch.testing.assert_close(again.probability, active.now.probability)


def test_a_step_that_overflows_is_halved_like_any_other(active):
    step = -active.now.gradient
    step[2] *= 1e250
    length = active.line_search(step)
    assert length.tolist() == [1, 1, 0]
    assert not active.coef[2].any()


def test_an_uphill_step_leaves_the_problem_where_it_is(active):
    active.line_search(-active.now.gradient)
    coef, value = active.coef.clone(), active.now.value.clone()
    step = -active.now.gradient
    step[1] *= -1
    length = active.line_search(step)
    assert length[1] == 0
    assert (length[[0, 2]] > 0).all()
    assert torch.equal(active.coef[1], coef[1])
    torch.testing.assert_close(active.now.value[1], value[1])


def test_keep_drops_the_others(active):
    active.line_search(-active.now.gradient)
    value, norm = active.now.value, active.grad_norm
    mask = torch.tensor([True, False, True])
    active.keep(mask)
    torch.testing.assert_close(active.now.value, value[mask])
    torch.testing.assert_close(active.grad_norm, norm[mask])
    assert active.place.tolist() == [0, 2]
    assert (active.line_search(-active.now.gradient) > 0).all()


def test_the_bias_is_damped_in_step_with_the_gradient(active, strengths):
    features = torch.ones(60, 6)
    penalty = active.hessian(features).penalty
    torch.testing.assert_close(penalty[:, :-1], strengths.float()[:, None].expand(-1, 5))
    torch.testing.assert_close(penalty[:, -1], BIAS_DAMPING * torch.ones(3))
    active.line_search(-active.now.gradient)
    torch.testing.assert_close(
        active.hessian(features).penalty[:, -1], (BIAS_DAMPING * active.grad_norm).float()
    )


def test_where_there_is_nothing_to_learn_the_gradient_counts_as_0(strengths):
    x, y = torch.ones(6, 2), torch.arange(6) % 3
    active = ActiveProblems(build(x, y), l2=strengths, problems=torch.arange(3))
    assert (active._scale == SMALLEST_SCALE).all()
    assert (active.grad_norm < 1e-6).all()
