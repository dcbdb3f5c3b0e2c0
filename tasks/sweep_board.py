"""How the trials of one sweep stand: learning curves in memory, finished trials as one small file each in the store.

Only the driver writes, when a trial is over; a killed driver loses no more than the trials that were running. A trial's file holds what happened;
what that means in the sweep (:mod:`tasks.halving`) is worked out from all curves together.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from tasks.halving import Curve, Halving, stops
from tasks.search_space import Parameters
from vitgeom.errors import CorruptData
from vitgeom.store.fingerprint import fingerprint
from vitgeom.store.uri import Root

NOTHING = Curve()


@dataclass(frozen=True)
class Trial:
    """One trial.

    Attributes:
        index: Its place in the plan.
        parameters: What it tries.
        curve: Log-loss per epoch.
        accuracy: Validation accuracy per epoch.
        num_parameters: Weights of the fitted classifier; known when it came to its own end.
        problem: Why it failed.
    """

    index: int
    parameters: Parameters
    curve: Curve = NOTHING
    accuracy: tuple[float, ...] = ()
    num_parameters: int | None = None
    problem: str | None = None


class Board:
    """All trials of one sweep.

    Attributes:
        stop: Set when everything is to end at once.
    """

    def __init__(
        self, plan: Sequence[Parameters], *, ledger: Root, rule: Halving, rivals: str | None = None
    ) -> None:
        """Read which trials are finished.

        Args:
            plan: Parameters of each trial.
            ledger: Where finished trials are kept.
            rule: When trials are stopped.
            rivals: Only trials with the same value of this parameter are compared and stopped; None compares all.
        """
        self.stop = threading.Event()
        self._ledger, self._rule = ledger, rule
        read = [read_trial(ledger, index, parameters) for index, parameters in enumerate(plan)]
        self._finished = {trial.index for trial in read if trial is not None}
        self.found = len(self._finished)
        self._trials = [trial or Trial(index, plan[index]) for index, trial in enumerate(read)]
        self._groups = _grouped(plan, rivals)

    @property
    def trials(self) -> list[Trial]:
        """All trials as they stand."""
        return list(self._trials)

    def missing(self) -> list[int]:
        """Return the trials that are not finished."""
        return [trial.index for trial in self._trials if trial.index not in self._finished]

    def is_finished(self, index: int) -> bool:
        """Whether a trial is in the ledger."""
        return index in self._finished

    def note(self, index: int, epoch: int, *, loss: float, accuracy: float) -> bool:
        """Take one epoch of a trial; return whether it is to go on. Epoch 0 starts the trial anew.

        Args:
            index: Which trial.
            epoch: Number of the epoch; they come in order.
            loss: Validation log-loss.
            accuracy: Validation accuracy; like the loss not finite where there is nothing to judge by.
        """
        before = Trial(index, self._trials[index].parameters) if epoch == 0 else self._trials[index]
        assert len(before.curve.loss) == epoch, f"trial {index} reported epoch {epoch} out of turn"
        loss = loss if math.isfinite(loss) else math.inf
        self._trials[index] = replace(
            before, curve=Curve((*before.curve.loss, loss)), accuracy=(*before.accuracy, accuracy)
        )
        if self.stops()[index] is None:
            return True
        self._keep(index)
        return False

    def end(self, index: int, *, num_parameters: int) -> None:
        """Take a trial that came to its own end."""
        trial = self._trials[index]
        self._trials[index] = replace(
            trial, curve=replace(trial.curve, ended=True), num_parameters=num_parameters
        )
        self._keep(index)

    def fail(self, index: int, problem: str) -> None:
        """Take a trial whose parameters cannot be used on these features."""
        trial = self._trials[index]
        self._trials[index] = replace(trial, curve=replace(trial.curve, failed=True), problem=problem)
        self._keep(index)

    def stops(self) -> list[int | None]:
        """Return the rung that each trial is stopped at, as far as that is certain."""
        found: list[int | None] = [None] * len(self._trials)
        for group in self._groups:
            verdicts = stops([self._trials[index].curve for index in group], self._rule)
            for index, verdict in zip(group, verdicts, strict=True):
                found[index] = verdict
        return found

    def _keep(self, index: int) -> None:
        self._ledger.write_json(trial_file(index), _to_json(self._trials[index]))
        self._finished.add(index)


def _grouped(plan: Sequence[Parameters], rivals: str | None) -> list[list[int]]:
    """Return the trials that compete with each other, in the order of the plan."""
    groups: dict[str, list[int]] = {}
    for index, parameters in enumerate(plan):
        groups.setdefault("" if rivals is None else repr(parameters[rivals]), []).append(index)
    return list(groups.values())


def trial_file(index: int) -> str:
    """Return the name of a trial's file in the ledger."""
    return f"{index:05d}.json"


def read_trial(ledger: Root, index: int, parameters: Parameters) -> Trial | None:
    """Return a finished trial, or None where there is none, or a file that is not what was written.

    Args:
        ledger: Where finished trials are kept.
        index: Which one.
        parameters: What it must have tried.
    """
    if not ledger.exists(trial_file(index)):
        return None
    try:
        content = ledger.read_json(trial_file(index))
    except CorruptData:
        return None
    return _from_json(content, index, parameters)


def _to_json(trial: Trial) -> dict[str, Any]:
    content = {
        "index": trial.index,
        "parameters": trial.parameters,
        "loss": [loss if math.isfinite(loss) else None for loss in trial.curve.loss],
        "accuracy": [share if math.isfinite(share) else None for share in trial.accuracy],
        "ended": trial.curve.ended,
        "num_parameters": trial.num_parameters,
        "problem": trial.problem,
    }
    return {**content, "checksum": fingerprint(content)}


def _from_json(content: Any, index: int, parameters: Parameters) -> Trial | None:
    if not isinstance(content, dict):
        return None
    rest = {name: value for name, value in content.items() if name != "checksum"}
    known = content.get("checksum") == fingerprint(rest) and rest.get("index") == index
    if not known or fingerprint(rest["parameters"]) != fingerprint(parameters):
        return None
    curve = Curve(
        tuple(math.inf if loss is None else loss for loss in rest["loss"]),
        ended=rest["ended"],
        failed=rest["problem"] is not None,
    )
    accuracy = tuple(math.nan if share is None else share for share in rest["accuracy"])
    return Trial(index, parameters, curve, accuracy, rest["num_parameters"], rest["problem"])
