"""A Prefect server and a process worker on loopback, with a home of their own, ended by process id."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

START_SECONDS = 180.0
POOL = "vitgeom"


@dataclass(frozen=True)
class PrefectServer:
    """A running server, and the environment in which commands find it."""

    url: str
    home: Path
    environment: dict[str, str]

    def command(self, *arguments: str, cwd: Path, timeout: float = 240.0) -> subprocess.CompletedProcess[str]:
        """Run ``prefect ...`` against this server."""
        return subprocess.run(
            [str(Path(sys.executable).with_name("prefect")), *arguments],
            cwd=cwd,
            env={**self.environment, "PWD": str(cwd)},
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )


@contextmanager
def running_prefect(home: Path, *, folder: Path) -> Iterator[PrefectServer]:
    """Start a server and one worker of the pool that ``infra/prefect.yaml`` names; runs work in ``folder``."""
    port = _free_port()
    url = f"http://127.0.0.1:{port}/api"
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")},
        "PREFECT_HOME": str(home),
        "PREFECT_API_URL": url,
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "PREFECT_WORKER_QUERY_SECONDS": "1",
        "DO_NOT_TRACK": "true",
        "OMP_NUM_THREADS": "1",
        "NO_COLOR": "1",
        "COLUMNS": "240",
    }
    server = PrefectServer(url, home, environment)
    program = str(Path(sys.executable).with_name("prefect"))
    with ExitStack() as stack:
        start = ["server", "start", "--host", "127.0.0.1", "--port", str(port), "--no-ui"]
        process = stack.enter_context(_process([program, *start], environment, home / "server.log", folder))
        _wait_until_healthy(url, process, home / "server.log")
        made = server.command("work-pool", "create", POOL, "--type", "process", cwd=folder)
        assert made.returncode == 0, made.stdout + made.stderr
        work = ["worker", "start", "--pool", POOL, "--type", "process"]
        stack.enter_context(_process([program, *work], environment, home / "worker.log", folder))
        yield server


@contextmanager
def _process(
    command: list[str], environment: dict[str, str], log: Path, folder: Path
) -> Iterator[subprocess.Popen[bytes]]:
    """Run a process in a group of its own and end the whole group: servers start children."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            yield process
        finally:
            _end_group(process)


def _end_group(process: subprocess.Popen[bytes]) -> None:
    for ending in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, ending)
        except ProcessLookupError:
            break
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            continue
    process.wait(timeout=10)


def _wait_until_healthy(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urllib.request.urlopen(f"{url}/health", timeout=2):
                return
        except OSError:
            time.sleep(0.2)
    raise RuntimeError(f"the Prefect server at {url} did not come up:\n{log.read_text()[-2000:]}")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
