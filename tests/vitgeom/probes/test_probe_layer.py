from __future__ import annotations

import torch

from vitgeom.probes.layer_fit import fit_layer
from vitgeom.probes.probe_layer import FitSettings, probe_layer


def run(small, strengths, *, target_val=None, **settings):
    x, y = small
    common = {"tol": 1e-8, "max_iter": 100, "sample_weight": None, "byte_budget": 1 << 30, "refit": False}
    return probe_layer(
        x[:40],
        y[:40],
        x_val=x[40:],
        target_val=y[40:] if target_val is None else target_val,
        settings=FitSettings(num_classes=3, l2=strengths, **{**common, **settings}),
    )


def test_the_probe_of_the_least_validation_loss_is_kept(small, strengths):
    outcome = run(small, strengths)
    grid = fit_layer(small[0][:40], small[1][:40], num_classes=3, l2=strengths, tol=1e-8)
    assert outcome.chosen == int(outcome.val_loss.argmin())
    torch.testing.assert_close(outcome.weight, grid.weight[outcome.chosen])
    torch.testing.assert_close(outcome.standardiser.mean, grid.standardiser.mean)
    assert outcome.final_converged


def test_refit_is_the_chosen_strength_on_all_rows(small, strengths):
    outcome = run(small, strengths, refit=True)
    plain = run(small, strengths)
    assert outcome.chosen == plain.chosen
    torch.testing.assert_close(outcome.val_loss, plain.val_loss)
    whole = fit_layer(*small, num_classes=3, l2=strengths[outcome.chosen, None], tol=1e-8)
    torch.testing.assert_close(outcome.weight, whole.weight[0], rtol=1e-5, atol=1e-6)
    torch.testing.assert_close(outcome.standardiser.std, whole.standardiser.std)
    assert outcome.final_grad_norm <= 1e-8


def test_refit_gives_validation_rows_the_mean_weight(small, strengths):
    weight = torch.arange(1, 41, dtype=torch.float64)[:, None]
    outcome = run(small, strengths, refit=True, sample_weight=weight)
    whole = fit_layer(
        *small,
        num_classes=3,
        l2=strengths[outcome.chosen, None],
        tol=1e-8,
        sample_weight=torch.cat([weight, torch.full((20, 1), 20.5, dtype=torch.float64)]),
    )
    torch.testing.assert_close(outcome.weight, whole.weight[0], rtol=1e-5, atol=1e-6)


def test_refit_leaves_out_rows_of_an_unseen_class(small, strengths):
    x, y = small
    target_val = y[40:].clone()
    target_val[:5] = -1
    outcome = run(small, strengths, refit=True, target_val=target_val)
    rows = torch.cat([torch.arange(40), torch.arange(45, 60)])
    whole = fit_layer(x[rows], y[rows], num_classes=3, l2=strengths[outcome.chosen, None], tol=1e-8)
    torch.testing.assert_close(outcome.weight, whole.weight[0], rtol=1e-5, atol=1e-6)


def test_an_unfinished_choice_is_marked_even_if_it_was_made_on_the_grid(small, strengths):
    assert not run(small, strengths[:1], max_iter=1).final_converged
    assert not run(small, strengths[:1], max_iter=1, refit=True).final_converged
