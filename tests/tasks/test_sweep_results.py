"""The winner by validation, ties, and what becomes of trials that are cut or failed."""

from __future__ import annotations

import math
from typing import Any

import pytest

from tasks.halving import Curve
from tasks.sweep_board import Trial
from tasks.sweep_results import count_states, outcomes, winner
from vitgeom.errors import NumericalFailure


def trial(index: int, *losses: float, **changes: Any) -> Trial:
    fields = {
        "index": index,
        "parameters": {"hidden_dim": index},
        "curve": Curve(losses, ended=True),
        "accuracy": tuple(0.5 for _ in losses),
        "num_parameters": 10,
    }
    return Trial(**{**fields, **changes})


def entry(index: int, loss: float, accuracy: float, size: int, state: str = "completed") -> dict[str, Any]:
    return {
        "index": index,
        "val_loss": loss,
        "val_accuracy": accuracy,
        "num_parameters": size,
        "state": state,
        "problem": "why",
    }


def test_a_trial_that_ran_past_its_stop_is_cut_there() -> None:
    found = outcomes([trial(0, 1.0, 0.5), trial(1, 3.0, 2.0, 0.1)], [None, 1])
    assert found[1] == {
        "index": 1,
        "parameters": {"hidden_dim": 1},
        "state": "stopped",
        "epochs": 1,
        "best_epoch": 1,
        "val_loss": 2.0,
        "val_accuracy": 0.5,
        "num_parameters": None,
        "problem": None,
        "curve": [3.0, 2.0],
    }
    assert found[0]["state"] == "completed"
    assert count_states(found) == {"completed": 1, "stopped": 1, "failed": 0}


def test_the_first_epoch_of_the_least_loss_is_the_one_that_is_kept() -> None:
    [found] = outcomes([trial(0, 1.0, 0.5, 0.5, accuracy=(0.1, 0.2, 0.3))], [None])
    assert (found["best_epoch"], found["val_accuracy"]) == (1, 0.2)


def test_a_trial_without_a_finite_loss_failed() -> None:
    [found] = outcomes([trial(0, math.inf, math.inf)], [None])
    assert found["state"] == "failed"
    assert "finite" in found["problem"]


def test_ties_go_to_fewer_weights_then_to_the_earlier_trial() -> None:
    equal = [entry(0, 1.0, 0.5, 30), entry(1, 1.0, 0.5, 20), entry(2, 1.0, 0.5, 20)]
    assert winner(equal, metric="log_loss")["index"] == 1
    assert winner(list(reversed(equal)), metric="log_loss")["index"] == 1


def test_the_metric_decides_first() -> None:
    found = [
        entry(0, 1.0, 0.5, 1),
        entry(1, 2.0, 0.9, 1),
        entry(2, 1.5, 0.9, 1),
        entry(3, 0.1, 1.0, 1, "stopped"),
    ]
    assert winner(found, metric="log_loss")["index"] == 0
    assert winner(found, metric="accuracy")["index"] == 2


def test_no_completed_trial_is_a_clear_error() -> None:
    with pytest.raises(NumericalFailure, match=r"all 1 trials of the sweep failed.*why"):
        winner([entry(0, 1.0, 0.5, 1, "failed")], metric="log_loss")
