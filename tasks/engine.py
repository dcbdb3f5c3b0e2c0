"""Engines run many units of one task. All share one contract, so flows do not know which one they hold.

The contract: receipts come back in request order; a unit that failed for a passing reason is tried again; units that are
stored stay stored; after a failure the others go on (see ``Outcome``), and the error says how to resume.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Literal, Protocol, runtime_checkable

from tasks.failure import RetryPolicy, Verdict, judge
from tasks.outcome import Outcome
from tasks.receipt import Receipt
from tasks.request import Request
from tasks.task_spec import TaskSpec, find_task
from tasks.termination import sigterm_raises
from vitgeom.errors import InvalidInput, UnknownName

OnReceipt = Callable[[Receipt], None]


@runtime_checkable
class Engine(Protocol):
    """Runs units of work somewhere."""

    def map(
        self,
        task_name: str,
        requests: Sequence[Request],
        *,
        on_receipt: OnReceipt | None = None,
        label: str = "",
    ) -> list[Receipt]:
        """Run one unit per request and return the receipts in request order.

        Args:
            task_name: Name in the catalogue.
            requests: One per unit.
            on_receipt: Called in the caller's thread as each unit finishes, in any order.
            label: What the work is, for messages.

        Raises:
            VitgeomError: A unit failed for good; the others are kept.
        """
        ...

    def close(self) -> None:
        """Stop whatever still runs and free all processes. May be called twice and from any thread."""
        ...


class SerialEngine:
    """Runs the units one after the other in this process."""

    def __init__(
        self,
        *,
        retries: int = 2,
        catalogue: Mapping[str, TaskSpec] | None = None,
        policy: RetryPolicy | None = None,
    ) -> None:
        """Start nothing.

        Args:
            retries: Tries after the first one, for passing failures.
            catalogue: Known tasks; None means all of ``tasks.catalogue``.
            policy: Retries and pauses; replaces ``retries``.
        """
        self._catalogue = catalogue
        self._policy = policy or RetryPolicy(retries=retries)

    def map(
        self,
        task_name: str,
        requests: Sequence[Request],
        *,
        on_receipt: OnReceipt | None = None,
        label: str = "",
    ) -> list[Receipt]:
        """Run one unit per request, in order; see ``Engine.map``."""
        spec = find_task(self._catalogue, task_name)
        outcome = Outcome(task_name, requests, label=label)
        for index, request in enumerate(requests):
            if outcome.halted:
                break
            receipt = self._run_unit(spec, index, request, outcome)
            if receipt is not None and on_receipt is not None:
                on_receipt(receipt)
        return outcome.receipts()

    def close(self) -> None:
        """Nothing to free."""

    def _run_unit(self, spec: TaskSpec, index: int, request: Any, outcome: Outcome) -> Receipt | None:
        attempt = 1
        while True:
            try:
                receipt = spec.function(request)
            except Exception as error:
                again = next_try(error, request, attempt=attempt, spec=spec, policy=self._policy)
                if again is None:
                    outcome.failed(index, error, attempts=attempt)
                    return None
                request = again
                time.sleep(self._policy.pause(attempt))
                attempt += 1
            else:
                outcome.stored(index, receipt)
                return receipt


def next_try(
    error: BaseException, request: Any, *, attempt: int, spec: TaskSpec, policy: RetryPolicy
) -> Any | None:
    """Return the request to try next, or None if the unit is to be given up.

    Args:
        error: What try number ``attempt`` raised.
        request: What that try was asked.
        attempt: 1 for the first try.
        spec: The task; knows how to shrink a request.
        policy: How many tries there are.
    """
    if attempt > policy.retries:
        return None
    verdict = judge(error)
    if verdict is Verdict.RETRY:
        return request
    if verdict is Verdict.SHRINK:
        return spec.shrink(request)
    return None


@contextmanager
def open_engine(
    kind: Literal["serial", "ray"],
    *,
    address: str = "local",
    num_cpus: int | None = None,
    max_in_flight: int = 4,
    retries: int = 2,
    wait_for_resources: float = 0.0,
    catalogue: Mapping[str, TaskSpec] | None = None,
    say: Callable[[str], None] | None = None,
) -> Iterator[Engine]:
    """Open an engine for a ``with`` block; whatever ends the block also ends the engine's processes.

    Inside the block a SIGTERM that nobody else handles raises ``SystemExit``, so that it cleans up like Ctrl-C does.

    Args:
        kind: ``"serial"`` runs in this process; ``"ray"`` on Ray, which starts with the first unit, not before.
        address: ``"local"`` starts a private Ray on this machine; ``"host:port"`` joins exactly that cluster.
        num_cpus: CPUs of a private Ray; None takes what Ray finds.
        max_in_flight: Units that are submitted at the same time.
        retries: Tries after the first one, for passing failures.
        wait_for_resources: Seconds to wait for a growing cluster before a task that fits no node is refused.
        catalogue: Known tasks; None means all of ``tasks.catalogue``.
        say: Receives one line when Ray is started or joined, which takes a while.

    Raises:
        UnknownName: No such kind of engine.
        InvalidInput: An option that does not go with the kind.
    """
    with sigterm_raises():
        engine = _build(
            kind,
            address=address,
            num_cpus=num_cpus,
            max_in_flight=max_in_flight,
            retries=retries,
            wait_for_resources=wait_for_resources,
            catalogue=catalogue,
            say=say,
        )
        try:
            yield engine
        finally:
            engine.close()


def _build(
    kind: str, *, retries: int, catalogue: Mapping[str, TaskSpec] | None, **ray_options: Any
) -> Engine:
    if retries < 0:
        raise InvalidInput(f"retries must be >= 0, got {retries}.")
    if kind == "serial":
        return SerialEngine(retries=retries, catalogue=catalogue)
    if kind == "ray":
        # Only here, so that serial work never loads Ray.
        from tasks.cluster.engine import RayEngine

        return RayEngine(retries=retries, catalogue=catalogue, **ray_options)
    raise UnknownName("engine", kind, ("serial", "ray"))
