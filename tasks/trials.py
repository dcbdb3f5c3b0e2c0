"""What trials of a sweep are, whatever they try, and how they run one after the other.

A kind of sweep is a request that names trials and a function that runs one of them; the board (:mod:`tasks.sweep_board`) takes what becomes of each.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

from tasks.request import Request
from tasks.search_space import Parameters
from tasks.sweep_board import Board
from vitgeom.errors import UnknownName

OnEpoch = Callable[[int, float, float], bool]
"""Epoch, validation loss, validation accuracy; returns whether to go on."""


class UnusableTrial(Exception):
    """These parameters give no result on these data, whoever tries; the sweep goes on without them."""


class RunTrial(Protocol):
    """Runs one trial of a request."""

    def __call__(self, request: Any, parameters: Parameters, *, on_epoch: OnEpoch) -> int:
        """Return the number of weights of what was fitted.

        Raises:
            UnusableTrial: The parameters give no result.
        """
        ...


@dataclass(frozen=True)
class TrialKind:
    """One kind of sweep.

    Attributes:
        request: Its requests; they have ``store``, ``path``, ``threads`` and ``device``-free JSON.
        run: One trial.
        memory: Peak bytes of a process that runs one trial, from the request.
    """

    request: type[Request]
    run: RunTrial
    memory: Callable[[Any], int]


RunTrials = Callable[[Any, Board], None]
"""Runs the trials of a request that a board misses, or raises what ended that."""


def kind_of(task: str) -> TrialKind:
    """Return the kind of sweep that a task is.

    Args:
        task: Its name in the catalogue.

    Raises:
        UnknownName: It is no sweep.
    """
    # Only here: what a kind needs (torch, the store) takes seconds to import.
    from tasks import rank_trial, sweep_memory, sweep_rank, sweep_trial
    from tasks.rank_sweep_request import RankSweepRequest
    from tasks.sweep_request import SweepRequest

    kinds = {
        SweepRequest.task: TrialKind(SweepRequest, sweep_trial.run_trial, sweep_memory.memory),
        RankSweepRequest.task: TrialKind(RankSweepRequest, rank_trial.run_trial, sweep_rank.memory),
    }
    if task not in kinds:
        raise UnknownName("sweep", task, kinds)
    return kinds[task]


def in_turn(request: Request, board: Board) -> None:
    """Run the missing trials one after the other in this process.

    Args:
        request: The sweep.
        board: Takes what becomes of each trial.
    """
    run_trial = kind_of(request.task).run
    for index in board.missing():
        try:
            size = run_trial(request, board.trials[index].parameters, on_epoch=partial(_note, board, index))
        except UnusableTrial as error:
            board.fail(index, str(error))
        else:
            if not board.is_finished(index):
                board.end(index, num_parameters=size)


def _note(board: Board, index: int, epoch: int, loss: float, accuracy: float) -> bool:
    return board.note(index, epoch, loss=loss, accuracy=accuracy)
