"""Which trials of a sweep are stopped early: asynchronous successive halving (Li et al. 2020), decided in the order of the trials.

At epochs g, g f, g f^2, ... (the rungs) a trial goes on if its least validation loss so far is among the best 1/f of the trials
before it in the plan that reached the rung, and itself; rounded up, ties go on. A trial that ended by itself before a rung counts there
with its final loss, one that failed before does not count.

The plan's order, not the order in which processes finish, decides. So the outcome is a function of the learning curves alone: the same for one
process or many, and after an interruption. While trials run, :func:`stops` tells what is certain already.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Curve:
    """What is known of one trial.

    Attributes:
        loss: Validation log-loss after epochs 0, 1, ...; epoch 0 is where training starts.
        ended: It came to its own end; no further epoch would follow.
        failed: It broke off and has no result.
    """

    loss: tuple[float, ...] = ()
    ended: bool = False
    failed: bool = False

    def best_until(self, epoch: int) -> float | None:
        """Return the least loss up to an epoch, or None while that is not known."""
        if not self.loss or (len(self.loss) <= epoch and not self.ended):
            return None
        return min(self.loss[: epoch + 1])


@dataclass(frozen=True)
class Halving:
    """When trials are compared, and how many go on.

    Attributes:
        grace: First rung.
        factor: Of the epochs from rung to rung, and of the trials that are stopped.
        last: Epochs of a whole training; nobody is stopped there.
    """

    grace: int
    factor: int
    last: int

    @property
    def rungs(self) -> tuple[int, ...]:
        """Epochs at which trials are compared, rising."""
        found, epoch = [], self.grace
        while epoch < self.last:
            found.append(epoch)
            epoch *= self.factor
        return tuple(found)


def stops(curves: Sequence[Curve], rule: Halving) -> list[int | None]:
    """Return for each trial the rung that it is stopped at, None where it is not, or not for certain yet.

    Args:
        curves: In the order of the plan.
        rule: The rungs.
    """
    stopped: list[int | None] = [None] * len(curves)
    undecided: set[int] = set()
    for rung in rule.rungs:
        ahead: list[float] = []
        certain = True
        for index, curve in enumerate(curves):
            if stopped[index] is not None:
                continue
            loss = curve.best_until(rung)
            if loss is None and curve.failed:
                continue
            if loss is None or index in undecided:
                # Whether this one counts here shows only later, and with it the verdict on those behind it.
                certain = False
                continue
            ahead.append(loss)
            if len(curve.loss) <= rung:  # it ended by itself before
                continue
            if not certain:
                undecided.add(index)
            elif sum(other < loss for other in ahead) >= math.ceil(len(ahead) / rule.factor):
                stopped[index] = rung
    return stopped
