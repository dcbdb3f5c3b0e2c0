"""The outcome of one map: receipts in request order, failures, and the rule when to start nothing new."""

from __future__ import annotations

from collections.abc import Sequence

from tasks.failure import Verdict, WorkerDied, WorkerOutOfMemory, judge, with_message
from tasks.receipt import Receipt
from tasks.request import Request

GIVE_UP_AFTER = 3
"""So many failed units end the work: by then the cause is hardly one unit's own."""


class Outcome:
    """Collects what became of each unit. Units that are stored stay stored, whatever becomes of the others."""

    def __init__(self, task: str, requests: Sequence[Request], *, label: str = "") -> None:
        """Expect one receipt per request.

        Args:
            task: Name in the catalogue.
            requests: In the order in which receipts are wanted.
            label: What the work is, for messages; the task's name if empty.
        """
        self._requests = list(requests)
        self._label = label or task
        self._receipts: list[Receipt | None] = [None] * len(self._requests)
        self._failures: list[tuple[int, BaseException, int]] = []

    @property
    def halted(self) -> bool:
        """Whether nothing new should be started."""
        return len(self._failures) >= GIVE_UP_AFTER or any(
            judge(error) is Verdict.STOP for _, error, _ in self._failures
        )

    @property
    def lost_workers(self) -> bool:
        """Whether a unit failed for good because its process died."""
        return any(isinstance(error, (WorkerDied, WorkerOutOfMemory)) for _, error, _ in self._failures)

    def stored(self, index: int, receipt: Receipt) -> None:
        """Record a finished unit."""
        self._receipts[index] = receipt

    def failed(self, index: int, error: BaseException, *, attempts: int) -> None:
        """Record a unit that is given up."""
        self._failures.append((index, error, attempts))

    def receipts(self) -> list[Receipt]:
        """Return all receipts in request order.

        Raises:
            VitgeomError: The first failure, of its own kind, with the unit, what is kept and how to resume. An error that
                must stop the work comes before the others.
        """
        if self._failures:
            raise self._error()
        done = [receipt for receipt in self._receipts if receipt is not None]
        assert len(done) == len(self._requests), "a unit was neither stored nor given up"
        return done

    def _error(self) -> BaseException:
        stopping = [failure for failure in self._failures if judge(failure[1]) is Verdict.STOP]
        index, error, attempts = (stopping or self._failures)[0]
        total = len(self._requests)
        kept = sum(receipt is not None for receipt in self._receipts)
        others = len(self._failures) - 1
        tries = "1 attempt" if attempts == 1 else f"{attempts} attempts"
        also = f" {others} more {'unit' if others == 1 else 'units'} failed." if others else ""
        message = (
            f"{self._label}: unit {self._requests[index].key} failed after {tries}: {str(error) or type(error).__name__}{also} "
            f"{kept} of {total} units of this run are stored and kept; once the cause is gone, the same command computes only the rest."
        )
        return with_message(error, message)
