"""One connection to Ray: a private one on this machine, or exactly the cluster that was named.

Never a stranger's: ``auto``, ``RAY_ADDRESS`` and whatever else runs on the machine are not looked at. A private Ray listens on
loopback only and asks for a token that exists only in the environment of this process and its children, so nothing is
written into the home folder and other users of the machine cannot use it.
"""

from __future__ import annotations

import logging
import os
import re
import secrets
import shutil
import socket
import sys
import tempfile
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

from tasks import environment
from tasks.cluster.capacity import Node
from tasks.receipt import Receipt
from tasks.request import Request
from tasks.task_spec import Ask
from vitgeom.errors import InvalidInput, ResourceShortage

OBJECT_STORE_BYTES = 100 * 2**20
"""Receipts are small: the object store of a private Ray can be, too."""

WORKER_THREADS = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
"""More than one computing process and spinning threads do not go together; a unit raises its own number from its request."""

QUIET: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
"""What workers raise comes back as errors; their output stays in Ray's log files."""

REACH_SECONDS = 10.0
"""A head node that is there answers at once."""

LONGEST_TEMP = 40
"""Socket paths below Ray's folder must stay under 108 characters."""


class RayDidNotStart(ResourceShortage):
    """A private Ray did not come up; on a machine that is busy for a moment the next try may succeed."""


def check_address(address: str, *, num_cpus: int | None) -> None:
    """Refuse an address that could join a cluster by accident.

    Args:
        address: ``"local"`` or ``"host:port"``.
        num_cpus: Only a private Ray can be told its size.

    Raises:
        InvalidInput: Anything else.
    """
    if address == "local":
        if num_cpus is not None and num_cpus < 1:
            raise InvalidInput(
                f"num_cpus must be >= 1, got {num_cpus}. Leave it out to use what the machine has."
            )
        return
    if not re.fullmatch(r"(\[[0-9a-fA-F:]+\]|[\w.-]+):\d{1,5}", address):
        raise InvalidInput(
            f"address must be 'local' or 'host:port' of one Ray cluster, got {address!r}. 'auto' could join a cluster that is "
            "somebody else's, and ray:// cannot cancel reliably; name the head node's port (6379 by default)."
        )
    if num_cpus is not None:
        raise InvalidInput(
            f"num_cpus={num_cpus} goes with address='local' only; the cluster at {address} has its own size."
        )


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
        _prepare_environment(private=self._is_local)
        import ray

        if imported_before and not ray.is_initialized():
            _reread_environment()
        if ray.is_initialized():
            raise InvalidInput(
                "this process is already connected to a Ray cluster, which may be somebody else's. Call ray.shutdown() first, or "
                "run in a process of its own."
            )
        self._folder = _short_folder() if self._is_local else None
        try:
            context = self._start(num_cpus) if self._is_local else self._join(address)
        except Exception as error:
            # Ray raises bare Exceptions here.
            self.close()
            raise self._not_reached(address, error) from error
        self.logs = str(Path(context.address_info["session_dir"]) / "logs")
        self._remote = ray.remote(run_unit)

    def _start(self, num_cpus: int | None) -> Any:
        import ray

        # Workers of a private Ray inherit this environment; a runtime_env would throw away the workers that Ray starts in advance.
        with exported(WORKER_THREADS):
            return ray.init(
                address="local",
                num_cpus=num_cpus,
                include_dashboard=False,
                object_store_memory=OBJECT_STORE_BYTES,
                # Ray opens its folder to all users; the one around it stays ours.
                _temp_dir=f"{self._folder}/r",
                **QUIET,
            )

    def _join(self, address: str) -> Any:
        import ray

        # Ray itself would try for minutes.
        host, _, port = address.rpartition(":")
        socket.create_connection((host.strip("[]"), int(port)), timeout=REACH_SECONDS).close()
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
        if self._folder is not None and not self.keep_logs:
            shutil.rmtree(self._folder, ignore_errors=True)


def _prepare_environment(*, private: bool) -> None:
    environment.apply()
    # Inside a Ray job the job's own variables stay, ours are added.
    os.environ.setdefault("RAY_OVERRIDE_JOB_RUNTIME_ENV", "1")
    if "RAY_AUTH_MODE" in os.environ:
        return
    if private:
        os.environ["RAY_AUTH_MODE"] = "token"
        os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))
        return
    has_token = any(name in os.environ for name in ("RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH"))
    has_token = has_token or (Path.home() / ".ray" / "auth_token").exists()
    os.environ["RAY_AUTH_MODE"] = "token" if has_token else "disabled"


def _reread_environment() -> None:
    """Let a Ray that was imported earlier take notice of the token: it read its configuration when it was loaded."""
    from ray import _raylet

    raylet: Any = _raylet  # compiled: type checkers do not see inside
    raylet.Config.initialize("")
    raylet.AuthenticationTokenLoader.instance().reset_cache()


@contextmanager
def exported(variables: Mapping[str, str]) -> Iterator[None]:
    """Set environment variables inside the block.

    Args:
        variables: Name -> value.
    """
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _short_folder() -> str:
    base = tempfile.gettempdir()
    return tempfile.mkdtemp(prefix="vg-ray-", dir=base if len(base) <= LONGEST_TEMP else "/tmp")
