"""A sweep over ranks of the Spectral Pullback Network: what each rank captures, and what it costs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from vitgeom.report.averaged import HALF_PRECISION

ENOUGH = 0.9
"""Of the most that any rank captured."""


@dataclass(frozen=True)
class RankTrial:
    """One rank and width that was tried.

    Attributes:
        rank: Directions of the network.
        hidden: Its width.
        state: What became of it: ``completed``, ``stopped`` early because others were ahead, or ``failed``.
        captured: Mean share of the sensitivity ‖J‖² that its directions hold on validation images; None without a result.
        ceiling: Mean kappa_cap(rank) there: the most that any directions hold.
        alignment: Mean V1 there.
        parameters: Weights; None without a result.
        problem: Why it failed.
    """

    rank: int
    hidden: int
    state: str
    captured: float | None
    ceiling: float | None
    alignment: float | None
    parameters: int | None
    problem: str | None = None


@dataclass(frozen=True)
class RankSweep:
    """All trials, by width and rank, and the best width of each rank as (rank, hidden); none for a rank without a result."""

    trials: tuple[RankTrial, ...]
    best: tuple[tuple[int, int], ...]

    @property
    def measured(self) -> tuple[RankTrial, ...]:
        """Trials with a captured share."""
        return tuple(trial for trial in self.trials if trial.captured is not None)

    @property
    def winners(self) -> tuple[RankTrial, ...]:
        """The best trial of each rank, by rank."""
        found = [trial for trial in self.trials if (trial.rank, trial.hidden) in self.best]
        return tuple(sorted(found, key=lambda trial: trial.rank))

    @property
    def most(self) -> RankTrial | None:
        """The winner that captures most, of the lower rank where several do."""
        return max(self.winners, key=lambda trial: trial.captured or 0.0, default=None)

    @property
    def enough(self) -> RankTrial | None:
        """The winner of the lowest rank that captures nine tenths of the most that was captured."""
        most = self.most
        if most is None or most.captured is None:
            return None
        least = ENOUGH * most.captured
        return next(trial for trial in self.winners if (trial.captured or 0.0) >= least)

    def by_hidden(self) -> dict[int, tuple[RankTrial, ...]]:
        """Return the measured trials of each width, by rank."""
        widths = sorted({trial.hidden for trial in self.measured})
        return {width: tuple(trial for trial in self.measured if trial.hidden == width) for width in widths}

    def ceilings(self) -> list[tuple[int, float]]:
        """Return (rank, kappa_cap(rank)) of every rank that has one, by rank."""
        known = {trial.rank: trial.ceiling for trial in self.trials if trial.ceiling is not None}
        return sorted(known.items())


def parse_ranks(content: Mapping[str, Any] | None) -> RankSweep | None:
    """Read a sweep over ranks; None where there was none.

    Args:
        content: As ``{"trials": [...], "best": ...}``; the best is one ``{"rank", "hidden"}``, a list of them, one per rank, or None.

    Raises:
        KeyError: A part is missing; likewise TypeError and ValueError for parts of another shape.
    """
    if content is None:
        return None
    trials = sorted(map(_trial, content["trials"]), key=lambda trial: (trial.hidden, trial.rank))
    best = content["best"] or ()
    places = [best] if isinstance(best, Mapping) else best
    return RankSweep(tuple(trials), tuple((int(one["rank"]), int(one["hidden"])) for one in places))


def rank_problems(sweep: RankSweep | None) -> Iterator[str]:
    """Yield what cannot be in a sweep.

    Args:
        sweep: The sweep.
    """
    if sweep is None:
        return
    for trial in sweep.trials:
        for what in ("captured", "ceiling", "alignment"):
            share = getattr(trial, what)
            if share is not None and not 0 <= share <= 1 + HALF_PRECISION:
                yield f"{what} of rank {trial.rank}, width {trial.hidden} must be a share in 0 to 1, got {share}"
        if trial.rank < 1 or trial.hidden < 1:
            yield f"a trial must have rank and width of at least 1, got {trial.rank} and {trial.hidden}"
    if len({(trial.rank, trial.hidden) for trial in sweep.trials}) < len(sweep.trials):
        yield "a rank and width was tried twice"
    measured = {(trial.rank, trial.hidden) for trial in sweep.measured}
    for rank, hidden in sweep.best:
        if (rank, hidden) not in measured:
            yield f"the best of the sweep, rank {rank} and width {hidden}, is no trial with a result"


def _trial(found: Mapping[str, Any]) -> RankTrial:
    return RankTrial(
        rank=int(found["rank"]),
        hidden=int(found["hidden"]),
        state=str(found["state"]),
        captured=_number(found["captured"]),
        ceiling=_number(found["ceiling"]),
        alignment=_number(found["alignment"]),
        parameters=None if found["parameters"] is None else int(found["parameters"]),
        problem=None if found.get("problem") is None else str(found["problem"]),
    )


def _number(value: Any) -> float | None:
    return None if value is None else float(value)
