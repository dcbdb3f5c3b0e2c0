"""What a sweep found: the state of every trial, and the winner.   Everything here is a function of the learning curves."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

from tasks.sweep_board import Trial
from vitgeom.errors import NumericalFailure

COMPLETED, STOPPED, FAILED = "completed", "stopped", "failed"


def outcomes(trials: Sequence[Trial], stopped: Sequence[int | None]) -> list[dict[str, Any]]:
    """Return one entry per trial, in the order of the plan.

    A trial that trained on while it was not certain yet that it would be stopped is cut at the rung that it is stopped at.

    Args:
        trials: All of them, finished.
        stopped: The rung that each is stopped at, as the board says.
    """
    return [_outcome(trial, rung) for trial, rung in zip(trials, stopped, strict=True)]


def winner(found: Sequence[dict[str, Any]], *, metric: str) -> dict[str, Any]:
    """Return the best completed trial by validation; ties go to fewer weights, then to the earlier trial.

    Args:
        found: From ``outcomes``.
        metric: ``"log_loss"`` or ``"accuracy"``; equal accuracies are told apart by log-loss.

    Raises:
        NumericalFailure: No trial was completed.
    """
    completed = [trial for trial in found if trial["state"] == COMPLETED]
    if not completed:
        raise NumericalFailure(
            f"all {len(found)} trials of the sweep failed, so there is no best one. The first: {found[0]['problem']} "
            "Change the values of the search space (params: sweep.space)."
        )

    def rank(trial: dict[str, Any]) -> tuple[float, ...]:
        first = -trial["val_accuracy"] if metric == "accuracy" else 0.0
        return first, trial["val_loss"], trial["num_parameters"], trial["index"]

    return min(completed, key=rank)


def count_states(found: Sequence[dict[str, Any]]) -> dict[str, int]:
    """Return how many trials are in each state."""
    counts = Counter(trial["state"] for trial in found)
    return {state: counts[state] for state in (COMPLETED, STOPPED, FAILED)}


def _outcome(trial: Trial, rung: int | None) -> dict[str, Any]:
    loss = trial.curve.loss if rung is None else trial.curve.loss[: rung + 1]
    finite = [value for value in loss if math.isfinite(value)]
    problem = trial.problem
    if rung is None and problem is None and not finite:
        problem = "NumericalFailure: no epoch has a finite validation log-loss."
    state = STOPPED if rung is not None else FAILED if problem else COMPLETED
    # A failed trial has no result, whatever it reported before.
    best = loss.index(min(finite)) if finite and state != FAILED else None
    return {
        "index": trial.index,
        "parameters": trial.parameters,
        "state": state,
        "epochs": max(0, len(loss) - 1),
        "best_epoch": best,
        "val_loss": None if best is None else loss[best],
        "val_accuracy": None if best is None else trial.accuracy[best],
        "num_parameters": trial.num_parameters if state == COMPLETED else None,
        "problem": problem if state == FAILED else None,
        "curve": [value if math.isfinite(value) else None for value in loss],
    }
