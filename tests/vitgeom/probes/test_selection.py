from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from tests.oracles import softmax_regression as oracle
from vitgeom.errors import NumericalFailure
from vitgeom.probes.layer_fit import fit_layer
from vitgeom.probes.row_file import RowFile
from vitgeom.probes.selection import choose_layer, choose_strength, validation_scores


def doubles(*values: float) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.float64)


def test_scores_are_mean_log_loss_and_accuracy(small, strengths):
    x, y = small
    fit = fit_layer(x[:40], y[:40], num_classes=3, l2=strengths)
    loss, accuracy = validation_scores(fit, x[40:], y[40:], num_train=40)
    for p in range(3):
        logits = fit.logits(x[40:], problem=p)
        assert accuracy[p] == (logits.argmax(dim=1) == y[40:]).double().mean()
        torch.testing.assert_close(loss[p], torch.nn.functional.cross_entropy(logits, y[40:]))
    z = (x[40:].double().numpy() - fit.standardiser.mean.numpy()) / fit.standardiser.std.numpy()
    plain = oracle.objective(z, y[40:].numpy(), fit.weight[0].numpy(), fit.bias[0].numpy(), 0.0)
    assert float(loss[0]) == pytest.approx(plain, rel=1e-10)


def test_an_unseen_class_is_wrong_and_costs_the_same_at_every_strength(small, strengths):
    x, y = small
    fit = fit_layer(x[:40], y[:40], num_classes=3, l2=strengths)
    loss, accuracy = validation_scores(fit, x[40:], y[40:], num_train=40)
    target = torch.cat([y[40:], torch.full((20,), -1)])
    loss_with, accuracy_with = validation_scores(fit, x[20:].roll(-20, 0), target, num_train=40)
    torch.testing.assert_close(accuracy_with, accuracy / 2)
    torch.testing.assert_close(loss_with, (loss + math.log(41)) / 2)
    assert choose_strength(loss_with) == choose_strength(loss)


def test_only_unseen_classes_still_give_finite_scores(small, strengths):
    x, y = small
    fit = fit_layer(x, y, num_classes=3, l2=strengths)
    loss, accuracy = validation_scores(fit, x[:4], torch.full((4,), -1), num_train=60)
    assert not accuracy.any()
    np.testing.assert_allclose(loss, math.log(61))


def test_the_least_loss_wins_and_nan_never_does():
    assert choose_strength(doubles(0.5, 0.2, 0.9)) == 1
    assert choose_strength(doubles(math.nan, 0.2, 0.2)) == 1
    with pytest.raises(NumericalFailure, match="no strength has a finite validation log-loss"):
        choose_strength(doubles(math.nan, math.inf))


@pytest.mark.parametrize(
    ("accuracy", "loss", "converged", "best"),
    [
        ((0.5, 0.9, 0.7), (1.0, 1.0, 0.1), (True, True, True), 1),
        ((0.9, 0.9, 0.9), (0.3, 0.2, 0.2), (True, True, True), 1),
        ((0.9, 0.9, 0.5), (0.3, 0.2, 0.1), (True, False, True), 0),
        ((0.1, 0.9, 0.8), (0.3, 0.2, 0.1), (True, False, False), 0),
    ],
)
def test_best_layer_by_accuracy_then_loss_among_the_converged(accuracy, loss, converged, best):
    got = choose_layer(accuracy=doubles(*accuracy), loss=doubles(*loss), converged=torch.tensor(converged))
    assert got == best


def test_no_converged_layer_is_a_failure_not_a_choice():
    with pytest.raises(NumericalFailure, match=r"none of the 2 layer probes converged.*raise max_iter"):
        choose_layer(accuracy=doubles(0.1, 0.2), loss=doubles(1, 1), converged=torch.tensor([False, False]))


def test_rows_in_a_file_get_the_same_scores(small, strengths, monkeypatch):
    x, y = small
    fit = fit_layer(x[:40], y[:40], num_classes=3, l2=strengths)
    target = y.clone()
    target[::9] = -1
    memory = validation_scores(fit, x, target, num_train=40)
    monkeypatch.setattr("vitgeom.probes.selection.chunk_rows", lambda **_: 7)
    with RowFile(width=5, dtype=x.dtype) as file:
        file.append(x)
        for streamed, whole in zip(validation_scores(fit, file, target, num_train=40), memory, strict=True):
            torch.testing.assert_close(streamed, whole)
