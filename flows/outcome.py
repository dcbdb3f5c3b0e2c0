"""What became of each cell: a receipt, or the reason why there is none. One failed cell does not stop the others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from flows.cell import Cell
from tasks.receipt import Receipt
from vitgeom.errors import VitgeomError

Step = Callable[[Cell], Receipt]


@dataclass(frozen=True)
class Outcome:
    """One cell after one step: exactly one of ``receipt`` and ``problem`` is there."""

    cell: Cell
    receipt: Receipt | None = None
    problem: str | None = None


class PartsFailed(VitgeomError, RuntimeError):
    """Some cells failed; the outcomes of all of them are kept."""

    def __init__(self, step: str, outcomes: Sequence[Outcome]) -> None:
        """Name the failed cells and say how to go on.

        Args:
            step: What was done, as a reader would say it.
            outcomes: All of them, also the good ones.
        """
        failed = [outcome for outcome in outcomes if outcome.problem]
        others = ", the others are done and kept" if len(failed) < len(outcomes) else ""
        lines = "".join(f"\n  {outcome.cell.name}: {outcome.problem}" for outcome in failed)
        super().__init__(
            f"{step}: {len(failed)} of {len(outcomes)} failed{others}.{lines}\n"
            "Once the cause is gone, the same command computes only what is missing."
        )
        self.outcomes = tuple(outcomes)


def attempt_each(
    cells: Iterable[Cell], step: Step, *, on_failure: Callable[[Cell, Exception], None]
) -> list[Outcome]:
    """Do one step for every cell, whatever happens to the others.

    Only an interruption ends it early; every other exception becomes the outcome of its cell.

    Args:
        cells: In the order in which they are worked on.
        step: The work of one cell.
        on_failure: Told of each failure as it happens, with its traceback still attached.
    """
    outcomes = []
    for cell in cells:
        try:
            outcomes.append(Outcome(cell, receipt=step(cell)))
        except Exception as error:
            on_failure(cell, error)
            outcomes.append(Outcome(cell, problem=one_line(error)))
    return outcomes


def require_all(step: str, outcomes: Sequence[Outcome]) -> list[Outcome]:
    """Return the outcomes if every cell has its receipt.

    Raises:
        PartsFailed: Some have not.
    """
    if any(outcome.problem for outcome in outcomes):
        raise PartsFailed(step, outcomes)
    return list(outcomes)


def final(*steps: Sequence[Outcome]) -> list[Outcome]:
    """Return what became of each cell in the end: its first problem, or else the receipt of the last step.

    Args:
        *steps: Outcomes of consecutive steps; a later one may lack the cells that failed before.
    """
    last: dict[str, Outcome] = {}
    for outcome in (outcome for step in steps for outcome in step):
        before = last.get(outcome.cell.name)
        if before is None or before.problem is None:
            last[outcome.cell.name] = outcome
    return list(last.values())


def problems(outcomes: Sequence[Outcome]) -> dict[str, str]:
    """Return the name of each failed cell with its reason."""
    return {outcome.cell.name: outcome.problem for outcome in outcomes if outcome.problem}


def one_line(error: BaseException) -> str:
    """Return kind and message of an error without line breaks."""
    return f"{type(error).__name__}: {' '.join(str(error).split()) or 'no message'}"
