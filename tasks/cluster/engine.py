"""The Ray engine: a thread of its own makes every call into Ray, the caller's thread only ever waits with a limit.

That is what makes it end in seconds: a thread inside Ray's native wait does not see SIGTERM as Prefect sends it, and
``ray.init`` in the main thread would replace the signal handlers of whoever runs us.
"""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from tasks.cluster.address import check_address
from tasks.cluster.connect import Connection, RayDidNotStart
from tasks.cluster.flight import Flight
from tasks.engine import OnReceipt
from tasks.failure import EngineClosed, RetryPolicy
from tasks.outcome import Outcome
from tasks.receipt import Receipt
from tasks.request import Request
from tasks.task_spec import TaskSpec, find_task
from tasks.termination import take_sigterm_back
from vitgeom.errors import InvalidInput

CLOSE_SECONDS = 9.0
"""Ending by force takes 2 to 3 seconds; after this the process exits anyway, and Ray's processes with it."""

TICK_SECONDS = 0.2

STARTS = 3
"""Ray gives up after 30 seconds if the machine is too busy to start it; so often it is tried."""

_log = logging.getLogger(__name__)


@dataclass
class _Job:
    """One piece of work, handed from the caller's thread to Ray's thread."""

    work: Callable[[Connection, _Job], None]
    landed: queue.SimpleQueue[Receipt] = field(default_factory=queue.SimpleQueue)
    over: threading.Event = field(default_factory=threading.Event)
    error: BaseException | None = None


class RayEngine:
    """Runs units on Ray; Ray starts with the first map that has work."""

    def __init__(
        self,
        *,
        address: str = "local",
        num_cpus: int | None = None,
        max_in_flight: int = 4,
        retries: int = 2,
        wait_for_resources: float = 0.0,
        catalogue: Mapping[str, TaskSpec] | None = None,
        policy: RetryPolicy | None = None,
        say: Callable[[str], None] | None = None,
    ) -> None:
        """Start nothing yet.

        Args:
            address: ``"local"`` or ``"host:port"`` of one cluster.
            num_cpus: CPUs of a private Ray; None takes what Ray finds.
            max_in_flight: Units that are submitted at the same time.
            retries: Tries after the first one, for passing failures.
            wait_for_resources: Seconds to wait for a growing cluster before a unit that fits no machine is refused.
            catalogue: Known tasks; None means all of ``tasks.catalogue``.
            policy: Retries and pauses; replaces ``retries``.
            say: Receives one line when Ray is started or joined, which takes a while.

        Raises:
            InvalidInput: An option is out of range, or the address could join a cluster by accident.
        """
        check_address(address, num_cpus=num_cpus)
        if max_in_flight < 1:
            raise InvalidInput(f"max_in_flight must be >= 1 unit, got {max_in_flight}.")
        self._address, self._num_cpus = address, num_cpus
        self._max_in_flight, self._patience = max_in_flight, wait_for_resources
        self._catalogue = catalogue
        self._policy = policy or RetryPolicy(retries=retries)
        self._say = say
        self._jobs: queue.SimpleQueue[_Job] = queue.SimpleQueue()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._connected = threading.Event()

    def map(
        self,
        task_name: str,
        requests: Sequence[Request],
        *,
        on_receipt: OnReceipt | None = None,
        label: str = "",
    ) -> list[Receipt]:
        """Run one unit per request; see ``Engine.map``. Anything that interrupts it ends all Ray work and the engine."""
        spec = find_task(self._catalogue, task_name)
        self._refuse_if_closed()
        wanted = list(requests)
        if not wanted:
            return []
        outcome = Outcome(task_name, wanted, label=label)
        self._do(lambda connection, job: self._fly(connection, job, spec, wanted, outcome), on_receipt)
        return outcome.receipts()

    def conduct(self, work: Callable[[Connection, threading.Event], None]) -> None:
        """Do work of another kind on this engine's connection, in its thread.

        Args:
            work: Given the connection, and an event; once that is set it must end within seconds.
        """
        self._refuse_if_closed()
        self._do(lambda connection, job: work(connection, self._stop), None)

    def close(self) -> None:
        """End running units by force and disconnect, within ten seconds."""
        self._stop.set()
        if self._thread is not None and not _ended(self._thread, seconds=CLOSE_SECONDS):
            _log.warning("Ray did not end within %.0f s; its processes end with this one.", CLOSE_SECONDS)

    def _refuse_if_closed(self) -> None:
        if self._stop.is_set():
            raise EngineClosed(
                "this engine is closed. Open a new one; stored units are kept and not computed again."
            )

    def _do(self, work: Callable[[Connection, _Job], None], on_receipt: OnReceipt | None) -> None:
        """Have Ray's thread do the work; try again only while Ray does not start."""
        for start in range(1, STARTS + 1):
            job = _Job(work)
            self._run(job, on_receipt)
            if not isinstance(job.error, RayDidNotStart) or start == STARTS:
                break
            _log.warning("%s (try %d of %d)", job.error, start, STARTS)
        if job.error is not None:
            raise job.error
        self._refuse_if_closed()

    def _run(self, job: _Job, on_receipt: OnReceipt | None) -> None:
        try:
            thread = self._thread
            if thread is None or not thread.is_alive():
                if self._say is not None:
                    here = self._address == "local"
                    self._say(
                        "starting Ray on this machine ..." if here else f"joining Ray at {self._address} ..."
                    )
                thread = self._thread = threading.Thread(target=self._serve, name="vitgeom-ray", daemon=True)
                thread.start()
            self._jobs.put(job)
            self._follow(job, thread, on_receipt)
            if isinstance(job.error, RayDidNotStart):
                _ended(thread, seconds=CLOSE_SECONDS)
        except BaseException:
            self.close()
            raise

    def _follow(self, job: _Job, thread: threading.Thread, on_receipt: OnReceipt | None) -> None:
        while True:
            if self._connected.is_set():
                self._connected.clear()
                take_sigterm_back()
            over = job.over.is_set() or not thread.is_alive()
            try:
                receipt = job.landed.get(timeout=0 if over else TICK_SECONDS)
            except queue.Empty:
                if over:
                    return
                continue
            if on_receipt is not None:
                on_receipt(receipt)

    def _serve(self) -> None:
        """Run jobs until told to stop; the only code that touches Ray. Ends where Ray does not start, see ``Connection``."""
        connection: Connection | None = None
        try:
            while not self._stop.is_set():
                try:
                    job = self._jobs.get(timeout=TICK_SECONDS)
                except queue.Empty:
                    continue
                try:
                    if connection is None:
                        connection = Connection(address=self._address, num_cpus=self._num_cpus)
                        self._connected.set()
                    job.work(connection, job)
                except BaseException as error:
                    job.error = error
                finally:
                    job.over.set()
                if isinstance(job.error, RayDidNotStart):
                    return
        finally:
            if connection is not None:
                connection.close()

    def _fly(
        self,
        connection: Connection,
        job: _Job,
        spec: TaskSpec,
        requests: Sequence[Request],
        outcome: Outcome,
    ) -> None:
        Flight(
            connection,
            spec,
            requests,
            outcome=outcome,
            landed=job.landed.put,
            stop=self._stop,
            policy=self._policy,
            max_in_flight=self._max_in_flight,
            wait_for_resources=self._patience,
        ).run()
        connection.keep_logs |= outcome.lost_workers


def _ended(thread: threading.Thread, *, seconds: float) -> bool:
    """Wait for a thread to end, in short steps so that signals are seen; return whether it did."""
    deadline = time.monotonic() + seconds
    while thread.is_alive() and time.monotonic() < deadline:
        thread.join(TICK_SECONDS)
    return not thread.is_alive()
