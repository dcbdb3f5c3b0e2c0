"""A driver process and everything that it starts, found again by a mark in their environment."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.support.checkout import ROOT

PATIENCE = 400.0
"""Seconds to wait for Ray and torch on a machine that does other things, too. No test measures this."""


class Driver:
    """One ``tests.support.extraction_driver`` process, or another program that prints ``ready`` first."""

    def __init__(
        self, store: Path, *, kind: str, pause: float, scratch: Path, program: Sequence[str] | None = None
    ) -> None:
        self.mark = f"VITGEOM_TEST_MARK={uuid.uuid4().hex}"
        self.pids_folder = scratch / f"pids-{self.mark[-8:]}"
        self.pids_folder.mkdir()
        self._store = store
        name, value = self.mark.split("=")
        environment = {
            **os.environ,
            name: value,
            "PYTHONPATH": str(ROOT),
            "VITGEOM_TEST_PIDS": str(self.pids_folder),
            "VITGEOM_TEST_PAUSE": str(pause),
            "OMP_NUM_THREADS": "1",
            "TMPDIR": "/tmp",
            # Nobody is there: a driver that looked at it would fail.
            "RAY_ADDRESS": "127.0.0.1:1",
        }
        self.process = subprocess.Popen(
            [sys.executable, "-m", *(program or ("tests.support.extraction_driver", str(store), kind))],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=scratch,
        )

    def wait_ready(self) -> None:
        assert self.process.stdout is not None
        assert self.process.stdout.readline().strip() == "ready", (
            self.process.stderr and self.process.stderr.read()
        )

    def wait_for_ranges(self, count: int) -> None:
        """Wait until the store holds so many finished ranges and work is still going on."""
        self.wait_for_files("done/*/*.json", count)

    def wait_for_files(self, pattern: str, count: int) -> None:
        """Wait until the store holds so many files of that name and the driver is still there."""
        self._until(lambda: len(list(self._store.rglob(pattern))) >= count, seconds=PATIENCE)

    def wait_for_workers(self) -> list[int]:
        """Wait until a unit has started and return the processes that compute."""
        self._until(lambda: any(self.pids_folder.iterdir()), seconds=PATIENCE)
        return [int(path.name) for path in self.pids_folder.iterdir()]

    def finish(self) -> tuple[str, int]:
        """Return the digest and the number of ranges that this driver computed."""
        output, errors = self.process.communicate(timeout=PATIENCE)
        assert self.process.returncode == 0, errors
        digest, computed = output.split()[-2:]
        return digest, int(computed)

    def remaining(self) -> dict[int, str]:
        """Pid and command line of all living processes that carry the mark, but the driver's own."""
        found = {}
        for folder in Path("/proc").iterdir():
            if not folder.name.isdigit() or folder.name == str(self.process.pid):
                continue
            try:
                if self.mark.encode() in (folder / "environ").read_bytes():
                    command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode().strip()
                    found[int(folder.name)] = command
            except OSError:
                continue
        return found

    def assert_all_gone(self, *, seconds: float) -> None:
        """Wait until no process that the driver started is alive."""
        end = time.monotonic() + seconds
        while (left := self.remaining()) and time.monotonic() < end:
            time.sleep(0.1)
        assert not left, f"still alive after {seconds} s: {left}"

    def kill(self) -> None:
        """End the driver at once."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()

    def kill_leftovers(self) -> None:
        """End the driver and what it left behind."""
        self.kill()
        for pid in self.remaining():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def _until(self, condition: Callable[[], bool], *, seconds: float) -> None:
        end = time.monotonic() + seconds
        while not condition():
            assert self.process.poll() is None, self.process.communicate()
            assert time.monotonic() < end, f"waited {seconds} s in vain"
            time.sleep(0.05)
