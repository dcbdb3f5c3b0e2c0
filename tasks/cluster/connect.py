"""One connection to Ray: a private one on this machine, or exactly the cluster that was named.

Never a stranger's: ``auto``, ``RAY_ADDRESS`` and whatever else runs on the machine are not looked at. A private Ray listens on
loopback only and asks for a token that exists only in the environment of this process and its children, so nothing is
written into the home folder and other users of the machine cannot use it.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Hashable, Sequence
from pathlib import Path
from typing import Any, cast

from tasks import environment
from tasks.cluster.address import check_address, reach
from tasks.cluster.capacity import Node
from tasks.cluster.folder import RayFolder
from tasks.cluster.surroundings import (
    WORKER_THREADS,
    exported,
    prepare_environment,
    reread_environment,
)
from tasks.receipt import Receipt
from tasks.request import Request
from tasks.task_spec import Ask
from vitgeom.errors import InvalidInput, ResourceShortage

OBJECT_STORE_BYTES = 100 * 2**20
"""Receipts are small: the object store of a private Ray can be, too."""

QUIET: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
"""What workers raise comes back as errors; their output stays in Ray's log files."""


class RayDidNotStart(ResourceShortage):
    """A private Ray did not come up; on a machine that is busy for a moment the next try may succeed."""


def run_unit(function: Callable[[Any], Receipt], request: Request) -> Receipt:
    """What a worker does: apply the environment switches, then run the unit."""
    environment.apply()
    return function(request)


class Connection:
    """A live connection. One thread opens it, makes all calls and closes it.

    Ray's processes are set to die with the thread that started them, so that thread must live as long as the connection.
    """

    def __init__(self, *, address: str, num_cpus: int | None) -> None:
        """Start a private Ray or join the named cluster; takes 5 to 20 seconds.

        Args:
            address: ``"local"`` or ``"host:port"``.
            num_cpus: CPUs of a private Ray; None takes what Ray finds.

        Raises:
            InvalidInput: The address is none, or this process is connected to Ray already.
            RayDidNotStart: A private Ray did not come up. What it left running ends with the calling thread.
            ResourceShortage: The named cluster cannot be reached.
        """
        check_address(address, num_cpus=num_cpus)
        self._is_local = address == "local"
        self.keep_logs = False
        imported_before = "ray" in sys.modules
        prepare_environment(private=self._is_local)
        import ray

        if imported_before and not ray.is_initialized():
            reread_environment()
        if ray.is_initialized():
            raise InvalidInput(
                "this process is already connected to a Ray cluster, which may be somebody else's. Call ray.shutdown() first, or "
                "run in a process of its own."
            )
        self._folder = RayFolder() if self._is_local else None
        try:
            context = self._start(num_cpus, self._folder) if self._folder else self._join(address)
        except Exception as error:
            # Ray raises bare Exceptions here.
            self.close()
            raise self._not_reached(address, error) from error
        self.logs = str(Path(context.address_info["session_dir"]) / "logs")
        self._remote = ray.remote(run_unit)

    def _start(self, num_cpus: int | None, folder: RayFolder) -> Any:
        import ray

        # Workers of a private Ray inherit this environment; a runtime_env would throw away the workers that Ray starts in advance.
        with exported(WORKER_THREADS):
            return ray.init(
                address="local",
                num_cpus=num_cpus,
                include_dashboard=False,
                object_store_memory=OBJECT_STORE_BYTES,
                # Ray opens its folder to all users; the one around it stays ours.
                _temp_dir=f"{folder.path}/r",
                **QUIET,
            )

    def _join(self, address: str) -> Any:
        import ray

        reach(address)
        return ray.init(
            address=address,
            runtime_env={"env_vars": {**WORKER_THREADS, **environment.TELEMETRY_OFF}},
            **QUIET,
        )

    def _not_reached(self, address: str, error: Exception) -> ResourceShortage:
        if self._is_local:
            return RayDidNotStart(
                f"a private Ray did not start on this machine: {error} Try again when the machine is less busy, or use the serial "
                "engine (engine: kind: serial)."
            )
        return ResourceShortage(
            f"cannot reach the Ray cluster at {address}: {error} Check the address, that its port is open, and the token "
            "(RAY_AUTH_TOKEN or RAY_AUTH_TOKEN_PATH), or use address='local'."
        )

    def submit(self, function: Callable[[Any], Receipt], request: Request, ask: Ask) -> Hashable:
        """Queue one unit; Ray itself never retries it."""
        remote = self._remote.options(
            num_cpus=ask.cpus,
            num_gpus=ask.gpus,
            memory=ask.memory,
            max_retries=0,
            name=type(request).task or "unit",
        )
        ticket: Hashable = remote.remote(function, request)
        return ticket

    def wait(self, tickets: Sequence[Hashable], *, timeout: float) -> Sequence[Hashable]:
        """Return the tickets that are ready, after ``timeout`` seconds at most."""
        import ray

        ready, _ = ray.wait(list(tickets), num_returns=1, timeout=timeout)
        return list(ready)

    def fetch(self, ticket: Hashable) -> Receipt:
        """Return the receipt of a ready ticket, or raise what a serial run would have raised."""
        import ray

        from tasks.cluster.translate import translate

        try:
            receipt: Receipt = ray.get(cast(Any, ticket), timeout=30.0)
        except Exception as error:
            raise translate(error, logs=self.logs) from None
        return receipt

    def cancel(self, ticket: Hashable) -> None:
        """End a unit by force: its worker process is killed."""
        import ray

        ray.cancel(ticket, force=True)

    def nodes(self) -> Sequence[Node]:
        """Return the resources of all machines that are alive."""
        import ray

        return [node["Resources"] for node in ray.nodes() if node["Alive"]]

    def close(self) -> None:
        """Disconnect; a private Ray ends, and its folder goes unless ``keep_logs`` was set."""
        import ray

        ray.shutdown(wait_for_processes=True)
        if self._folder is not None:
            self._folder.keep() if self.keep_logs else self._folder.remove()
            self._folder = None
