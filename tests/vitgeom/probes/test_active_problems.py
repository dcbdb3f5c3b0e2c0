from __future__ import annotations

import pytest
import torch

from vitgeom.probes.active_problems import SMALLEST_SCALE, ActiveProblems

from .test_objective import build


@pytest.fixture
def active(small, strengths):
    return ActiveProblems(build(*small), l2=strengths, problems=torch.arange(3))


def test_all_start_at_zero_with_relative_gradient_1(active):
    assert not active.coef.any()
    torch.testing.assert_close(active.grad_norm, torch.ones(3, dtype=torch.float64))


def test_a_downhill_step_lowers_every_objective_and_state_belongs_to_the_new_point(active, strengths):
    before = active.now.value
    assert active.line_search(-active.now.gradient).all()
    assert (active.now.value < before).all()
    again = active._objective.evaluate(active.coef, l2=strengths, problems=torch.arange(3))
    torch.testing.assert_close(again.gradient, active.now.gradient)
    torch.testing.assert_close(again.probability, active.now.probability)


def test_only_the_step_that_is_too_long_is_halved(active, strengths):
    step = -active.now.gradient * torch.tensor([1.0, 1e4, 1.0], dtype=torch.float64)[:, None]
    assert active.line_search(step).all()
    torch.testing.assert_close(active.coef[:, 0], step[:, 0])
    shrink = float(step[:, 1].norm() / active.coef[:, 1].norm())
    assert shrink == pytest.approx(2 ** round(torch.tensor(shrink).log2().item()))
    assert shrink > 100
    again = active._objective.evaluate(active.coef, l2=strengths, problems=torch.arange(3))
    torch.testing.assert_close(again.value, active.now.value)
    torch.testing.assert_close(again.probability, active.now.probability)


def test_a_step_that_overflows_is_halved_like_any_other(active):
    step = -active.now.gradient
    step[:, 2] *= 1e250
    moved = active.line_search(step)
    assert moved.tolist() == [True, True, False]
    assert not active.coef[:, 2].any()


def test_an_uphill_step_leaves_the_problem_where_it_is(active):
    active.line_search(-active.now.gradient)
    coef, value = active.coef.clone(), active.now.value.clone()
    step = -active.now.gradient
    step[:, 1] *= -1
    assert active.line_search(step).tolist() == [True, False, True]
    assert torch.equal(active.coef[:, 1], coef[:, 1])
    torch.testing.assert_close(active.now.value[1], value[1])


def test_keep_drops_the_others(active):
    active.line_search(-active.now.gradient)
    value, norm = active.now.value, active.grad_norm
    mask = torch.tensor([True, False, True])
    active.keep(mask)
    torch.testing.assert_close(active.now.value, value[mask])
    torch.testing.assert_close(active.grad_norm, norm[mask])
    assert active.line_search(-active.now.gradient).all()


def test_where_there_is_nothing_to_learn_the_gradient_counts_as_0(strengths):
    x, y = torch.ones(6, 2), torch.arange(6) % 3
    active = ActiveProblems(build(x, y), l2=strengths, problems=torch.arange(3))
    assert (active._scale == SMALLEST_SCALE).all()
    assert (active.grad_norm < 1e-6).all()
