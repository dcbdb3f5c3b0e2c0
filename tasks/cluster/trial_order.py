"""Tune's scheduler and stopper in terms of a board: first come, first served, and stopped when the board says so.

Tune pickles both into its notes, where a board cannot go. They hold the experiment's name, and find its board in this process.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ray.tune import Stopper
from ray.tune.schedulers import FIFOScheduler, TrialScheduler

from tasks.sweep_board import Board

_boards: dict[str, Board] = {}


@contextmanager
def showing(name: str, board: Board) -> Iterator[None]:
    """Let schedulers and stoppers of an experiment find its board inside the block.

    Args:
        name: Of the experiment.
        board: Of the sweep.
    """
    _boards[name] = board
    try:
        yield
    finally:
        del _boards[name]


class BoardVerdicts(FIFOScheduler):  # type: ignore[misc]
    """Hands what trials report to the board, and its verdict to Tune."""

    def __init__(self, name: str) -> None:
        """Remember which experiment."""
        super().__init__()
        self._name = name

    def on_trial_result(self, tune_controller: Any, trial: Any, result: dict[str, Any]) -> str:
        """Take one report; what comes after a trial's end is nobody's business any more."""
        board = _boards[self._name]
        index = result["index"]
        if board.is_finished(index):
            return TrialScheduler.STOP
        go_on = _take(board, index, result)
        return TrialScheduler.CONTINUE if go_on else TrialScheduler.STOP


class BoardStops(Stopper):  # type: ignore[misc]
    """Ends the whole experiment once the board is to stop."""

    def __init__(self, name: str) -> None:
        """Remember which experiment."""
        self._name = name

    def __call__(self, trial_id: str, result: dict[str, Any]) -> bool:
        """Leave single trials to the scheduler."""
        return False

    def stop_all(self) -> bool:
        """Whether everything is to end."""
        return _boards[self._name].stop.is_set()


def _take(board: Board, index: int, result: dict[str, Any]) -> bool:
    """Enter one report; return whether the trial is to go on."""
    event = result["event"]
    if event == "epoch":
        return board.note(index, result["epoch"], loss=result["loss"], accuracy=result["accuracy"])
    if event == "ended":
        board.end(index, num_parameters=result["num_parameters"])
    elif event == "failed":
        board.fail(index, result["problem"])
    return False
