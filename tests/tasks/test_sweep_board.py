"""The ledger of trials: what is finished is found again, what is damaged or of another plan is not."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from tasks.halving import Halving
from tasks.sweep_board import Board, read_trial, trial_file
from vitgeom.store.uri import Root

PLAN = [{"hidden_dim": 0}, {"hidden_dim": 4}, {"hidden_dim": 8}]
RULE = Halving(grace=1, factor=2, last=4)


def board(folder: Path) -> Board:
    return Board(PLAN, ledger=Root(folder / "trials"), rule=RULE)


def report(on: Board, index: int, *losses: float) -> list[bool]:
    return [on.note(index, epoch, loss=loss, accuracy=0.5) for epoch, loss in enumerate(losses)]


def test_finished_trials_are_found_again_and_running_ones_are_not(tmp_path: Path) -> None:
    first = board(tmp_path)
    report(first, 0, 1.0, float("nan"))
    first.end(0, num_parameters=7)
    report(first, 1, 1.0)
    first.fail(2, "too many latents")
    again = board(tmp_path)
    assert again.missing() == [1]
    assert (again.trials[0], again.trials[2]) == (first.trials[0], first.trials[2])
    assert again.trials[1].curve.loss == ()


def test_a_trial_with_nothing_to_judge_by_is_kept_as_such(tmp_path: Path) -> None:
    first, nothing = board(tmp_path), float("nan")
    first.note(0, 0, loss=nothing, accuracy=nothing)
    first.end(0, num_parameters=7)
    again = board(tmp_path).trials[0]
    assert again.curve.loss == (math.inf,)
    assert math.isnan(again.accuracy[0])


def test_a_stopped_trial_is_finished(tmp_path: Path) -> None:
    first = board(tmp_path)
    report(first, 0, 1.0, 1.0)
    assert report(first, 1, 2.0, 2.0) == [True, False]
    assert board(tmp_path).missing() == [0, 2]


def test_epoch_0_starts_a_trial_anew(tmp_path: Path) -> None:
    first = board(tmp_path)
    report(first, 0, 5.0, 4.0)
    report(first, 0, 3.0)
    assert first.trials[0].curve.loss == (3.0,)


@pytest.mark.parametrize("damage", ["cut", "edited", "another"])
def test_a_file_that_is_not_what_was_written_does_not_count(tmp_path: Path, damage: str) -> None:
    first = board(tmp_path)
    report(first, 0, 1.5)
    first.end(0, num_parameters=7)
    path = tmp_path / "trials" / trial_file(0)
    text = path.read_text()
    path.write_text({"cut": text[:-9], "edited": text.replace("1.5", "0.5"), "another": text}[damage])
    wanted = {"hidden_dim": 99} if damage == "another" else PLAN[0]
    assert read_trial(Root(tmp_path / "trials"), 0, wanted) is None


def test_only_rivals_are_compared(tmp_path: Path) -> None:
    plan = [{"rank": rank, "hidden": hidden} for rank in (5, 20) for hidden in (64, 128)]
    losses = [(0.9, 0.8), (0.9, 0.9), (0.9, 0.1), (0.9, 0.2)]
    together = Board(plan, ledger=Root(tmp_path / "a"), rule=RULE)
    by_rank = Board(plan, ledger=Root(tmp_path / "b"), rule=RULE, rivals="rank")
    for each in (together, by_rank):
        for index, curve in enumerate(losses):
            report(each, index, *curve)
    # Against its own rank's trials the first of each rank is the best; against all of them the last ones are.
    assert by_rank.stops() == [None, 1, None, 1]
    assert together.stops() == [None, 1, None, None]
