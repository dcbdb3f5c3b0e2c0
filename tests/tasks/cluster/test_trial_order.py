"""What Tune hears from the board: verdicts, ends, failures, and the end of everything; and that both survive pickling."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tasks.cluster.trial_order import BoardStops, BoardVerdicts, showing
from tasks.halving import Halving
from tasks.sweep_board import Board
from vitgeom.store.uri import Root

PLAN = [{"hidden_dim": 4}, {"hidden_dim": 8}, {"hidden_dim": 5000}]


@pytest.fixture
def board(tmp_path: Path) -> Iterator[Board]:
    board = Board(PLAN, ledger=Root(tmp_path / "trials"), rule=Halving(grace=1, factor=2, last=4))
    with showing("sweep", board):
        yield board


def hear(index: int, event: str, **fields: Any) -> str:
    scheduler = pickle.loads(pickle.dumps(BoardVerdicts("sweep")))
    return str(scheduler.on_trial_result(None, None, {"index": index, "event": event, **fields}))


def epochs(index: int, *losses: float) -> list[str]:
    return [hear(index, "epoch", epoch=epoch, loss=loss, accuracy=0.5) for epoch, loss in enumerate(losses)]


def test_a_trial_goes_on_until_the_board_says_stop(board: Board) -> None:
    assert epochs(0, 1.0, 1.0) == ["CONTINUE", "CONTINUE"]
    assert epochs(1, 2.0, 2.0) == ["CONTINUE", "STOP"]
    assert board.missing() == [0, 2]


def test_ends_and_failures_reach_the_board_and_later_reports_do_not(board: Board) -> None:
    epochs(0, 1.0)
    assert hear(0, "ended", num_parameters=9) == "STOP"
    assert hear(2, "failed", problem="too many") == "STOP"
    # Tune repeats the last report when a function returns.
    assert hear(0, "ended", num_parameters=9) == "STOP"
    assert (board.trials[0].num_parameters, board.trials[2].problem) == (9, "too many")
    assert board.missing() == [1]


def test_everything_ends_when_the_board_is_to_stop(board: Board) -> None:
    stopper = pickle.loads(pickle.dumps(BoardStops("sweep")))
    assert not stopper.stop_all()
    assert not stopper("trial", {})
    board.stop.set()
    assert stopper.stop_all()
