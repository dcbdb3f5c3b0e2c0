"""Bounded flight: a few units are submitted at a time, and what failed for a passing reason is submitted again.

Knows nothing of Ray but five verbs (``Calls``), so its rules can be tested without a cluster.
"""

from __future__ import annotations

import heapq
import threading
import time
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from tasks.cluster.capacity import Node, shortage
from tasks.engine import next_try
from tasks.failure import RetryPolicy
from tasks.outcome import Outcome
from tasks.receipt import Receipt
from tasks.request import Request
from tasks.task_spec import Ask, TaskSpec
from vitgeom.errors import ResourceShortage

POLL_SECONDS = 0.3
"""No call into the cluster waits longer than this before the stop event is looked at."""

RECHECK_SECONDS = 10.0
"""When nothing has finished for so long, machines may be gone: the capacity is checked again."""


class Calls(Protocol):
    """What a flight needs of a cluster. Nothing here waits without a limit."""

    def submit(self, function: Callable[[Any], Receipt], request: Request, ask: Ask) -> Hashable:
        """Queue one unit and return its ticket."""
        ...

    def wait(self, tickets: Sequence[Hashable], *, timeout: float) -> Sequence[Hashable]:
        """Return the tickets that are ready, after ``timeout`` seconds at most."""
        ...

    def fetch(self, ticket: Hashable) -> Receipt:
        """Return the receipt of a ready ticket or raise what the unit raised."""
        ...

    def cancel(self, ticket: Hashable) -> None:
        """End a unit by force."""
        ...

    def nodes(self) -> Sequence[Node]:
        """Return the resources of all machines that are alive."""
        ...


@dataclass(order=True)
class _Unit:
    not_before: float
    index: int
    request: Any = field(compare=False)
    attempt: int = field(default=1, compare=False)


class Flight:
    """One map over a cluster, run by the thread that owns the connection."""

    def __init__(
        self,
        calls: Calls,
        spec: TaskSpec,
        requests: Sequence[Request],
        *,
        outcome: Outcome,
        landed: Callable[[Receipt], None],
        stop: threading.Event,
        policy: RetryPolicy,
        max_in_flight: int,
        wait_for_resources: float = 0.0,
    ) -> None:
        """Prepare; nothing is submitted yet.

        Args:
            calls: The cluster.
            spec: The task.
            requests: One per unit.
            outcome: Takes what became of each unit.
            landed: Called with each receipt, in this thread.
            stop: Once set, all units are ended by force and ``run`` returns.
            policy: Retries and pauses.
            max_in_flight: Units that are submitted at the same time.
            wait_for_resources: Seconds until a unit that fits no machine is refused.
        """
        self._calls, self._spec, self._outcome = calls, spec, outcome
        self._landed, self._stop, self._policy = landed, stop, policy
        self._max_in_flight, self._patience = max_in_flight, wait_for_resources
        self._waiting = [_Unit(0.0, index, request) for index, request in enumerate(requests)]
        self._flying: dict[Hashable, _Unit] = {}
        self._last_landing = time.monotonic()

    def run(self) -> None:
        """Fly all units; returns when each one is stored or given up, or when ``stop`` is set.

        Raises:
            ResourceShortage: A unit fits no machine.
        """
        self._await_room()
        try:
            while self._work_is_left() and not self._stop.is_set():
                self._launch()
                self._land()
        finally:
            for ticket in self._flying:
                self._calls.cancel(ticket)

    def _work_is_left(self) -> bool:
        return bool(self._flying) or (bool(self._waiting) and not self._outcome.halted)

    def _launch(self) -> None:
        now = time.monotonic()
        while (
            self._waiting
            and self._waiting[0].not_before <= now
            and len(self._flying) < self._max_in_flight
            and not self._outcome.halted
        ):
            unit = heapq.heappop(self._waiting)
            ticket = self._calls.submit(self._spec.function, unit.request, self._spec.ask(unit.request))
            self._flying[ticket] = unit

    def _land(self) -> None:
        if not self._flying:
            self._stop.wait(POLL_SECONDS)
            return
        ready = self._calls.wait(list(self._flying), timeout=POLL_SECONDS)
        for ticket in ready:
            self._land_one(self._flying.pop(ticket), ticket)
        now = time.monotonic()
        if ready:
            self._last_landing = now
        elif now - self._last_landing > RECHECK_SECONDS:
            self._last_landing = now
            self._require_room([unit.request for unit in self._flying.values()])

    def _land_one(self, unit: _Unit, ticket: Hashable) -> None:
        try:
            receipt = self._calls.fetch(ticket)
        except Exception as error:
            again = next_try(error, unit.request, attempt=unit.attempt, spec=self._spec, policy=self._policy)
            if again is None:
                self._outcome.failed(unit.index, error, attempts=unit.attempt)
                return
            ready_at = time.monotonic() + self._policy.pause(unit.attempt)
            heapq.heappush(self._waiting, _Unit(ready_at, unit.index, again, unit.attempt + 1))
        else:
            self._outcome.stored(unit.index, receipt)
            self._landed(receipt)

    def _await_room(self) -> None:
        requests = [unit.request for unit in self._waiting]
        deadline = time.monotonic() + self._patience
        while not self._stop.is_set():
            try:
                self._require_room(requests)
            except ResourceShortage:
                if time.monotonic() >= deadline:
                    raise
                self._stop.wait(POLL_SECONDS)
            else:
                return

    def _require_room(self, requests: Sequence[Request]) -> None:
        nodes = self._calls.nodes()
        for ask in {self._spec.ask(request) for request in requests}:
            reason = shortage(ask, nodes)
            if reason is not None:
                raise ResourceShortage(f"task {self._spec.name}: {reason}")
