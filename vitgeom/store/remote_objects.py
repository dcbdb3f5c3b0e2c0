"""Objects behind a URL (S3 and anything else that fsspec speaks): one retry layer and a deadline around every operation."""

from __future__ import annotations

import asyncio
import functools
import hashlib
import os
import time
from collections.abc import Callable, Coroutine
from typing import Any

import fsspec

from vitgeom.errors import InvalidInput, UnknownName
from vitgeom.store.failures import error_code, is_transient

CONNECT_SECONDS = 5
READ_SECONDS = 15
# With these pauses a server may be away for a quarter of a minute; a wrong address is told after that time.
ATTEMPTS = 8
FIRST_PAUSE_SECONDS = 0.2
LONGEST_PAUSE_SECONDS = 5.0
# Large objects get more time than the deadline: at least this many bytes per second are expected.
SLOWEST_BYTES_PER_SECOND = 1_000_000
# Whatever steers an S3 client; a change of any of them needs a client of its own.
_CLIENT_VARIABLES = (
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "AWS_ENDPOINT_URL",
    "AWS_ENDPOINT_URL_S3",
    "AWS_REGION",
    "AWS_DEFAULT_REGION",
    "AWS_PROFILE",
)


class RemoteObjects:
    """Keys are relative to ``base`` (bucket and prefix, or a path in memory); an object appears whole or not at all.

    The client libraries' own retries are off, so that one failing server is asked :data:`ATTEMPTS` times and not that many times
    squared. Every attempt runs under ``asyncio.wait_for``: a server that accepts a request and never answers ends in an error.
    """

    def __init__(self, scheme: str, base: str, *, deadline: float) -> None:
        self.scheme = scheme
        self.base = base
        self.deadline = deadline
        self._file_system = file_system(scheme)

    def get(self, key: str) -> bytes | None:
        """Return the bytes of an object, or None when there is none."""
        fs, path = self._file_system, self._path(key)
        try:
            return self._run(lambda: fs._cat_file(path), lambda: fs.cat_file(path))
        except FileNotFoundError as error:
            if _is_missing_bucket(error):
                raise
            return None

    def put(self, key: str, data: bytes | memoryview, *, exclusive: bool = False) -> None:
        """Write an object whole.

        Args:
            key: Where.
            data: What.
            exclusive: Ask the server to refuse when the object exists (FileExistsError). Not every server honours that.
        """
        fs, path, content = self._file_system, self._path(key), bytes(data)
        mode = "create" if exclusive else "overwrite"
        self._run(
            lambda: fs._pipe_file(path, content, mode=mode),
            lambda: fs.pipe_file(path, content, mode=mode),
            size=len(content),
        )

    def exists(self, key: str) -> bool:
        """Return True when there is an object of that name."""
        fs, path = self._file_system, self._path(key)
        try:
            info = self._run(lambda: fs._info(path), lambda: fs.info(path))
        except FileNotFoundError:
            return False
        return info["type"] == "file"

    def children(self, key: str) -> list[str]:
        """Return the names of objects and prefixes directly below a prefix; empty when there are none."""
        fs, path = self._file_system, self._path(key)
        try:
            entries = self._run(lambda: fs._ls(path, detail=False), lambda: fs.ls(path, detail=False))
        except FileNotFoundError as error:
            if _is_missing_bucket(error):
                raise
            return []
        found = (
            entry.rstrip("/").rpartition("/")[2] for entry in entries if entry.strip("/") != path.strip("/")
        )
        return [name for name in found if name]

    def remove(self, key: str, *, recursive: bool = False) -> None:
        """Remove an object, or with ``recursive`` a prefix; nothing happens when it is not there."""
        fs, path = self._file_system, self._path(key)
        try:
            if recursive:
                self._run(lambda: fs._rm(path, recursive=True), lambda: fs.rm(path, recursive=True))
            else:
                self._run(lambda: fs._rm_file(path), lambda: fs.rm_file(path))
        except FileNotFoundError as error:
            if _is_missing_bucket(error):
                raise

    def sweep(self, key: str) -> list[str]:
        """Return an empty list: objects are never written in part."""
        return []

    def _path(self, key: str) -> str:
        return f"{self.base}/{key}" if key else self.base

    def _run(
        self, start: Callable[[], Coroutine[Any, Any, Any]], call: Callable[[], Any], *, size: int = 0
    ) -> Any:
        """Run one operation to its end, repeating what is transient, within the deadline."""
        if not self._file_system.async_impl:
            return call()
        allowed = self.deadline + size / SLOWEST_BYTES_PER_SECOND
        end = time.monotonic() + allowed
        for attempt in range(ATTEMPTS):
            left = end - time.monotonic()
            # Two attempts must fit, or a single hang would use up everything.
            try:
                return _await(self._file_system.loop, start, max(min(left, allowed / 2), 0.01))
            except Exception as error:
                pause = min(FIRST_PAUSE_SECONDS * 2**attempt, LONGEST_PAUSE_SECONDS)
                last = attempt == ATTEMPTS - 1 or time.monotonic() + pause >= end
                if last or not is_transient(error):
                    raise
                time.sleep(pause)
        raise AssertionError("the last attempt returns or raises")


def file_system(scheme: str) -> Any:
    """Return this process's client for a scheme, made anew when the credentials in the environment have changed.

    Args:
        scheme: What stands before "://".

    Raises:
        UnknownName: fsspec knows no such scheme.
        InvalidInput: The package that speaks this scheme is not installed.
    """
    settings = "\0".join(f"{name}={os.environ.get(name, '')}" for name in _CLIENT_VARIABLES)
    return _file_system(scheme, os.getpid(), hashlib.sha256(settings.encode()).hexdigest())


@functools.lru_cache(maxsize=8)
def _file_system(scheme: str, process: int, settings: str) -> Any:
    if scheme not in fsspec.available_protocols():
        raise UnknownName(
            "URL scheme", scheme, ("s3", "memory", "file"), hint="A local path needs no scheme."
        )
    options = _s3_options() if scheme in ("s3", "s3a") else {}
    try:
        made = fsspec.filesystem(scheme, skip_instance_cache=True, use_listings_cache=False, **options)
    except ImportError as error:
        raise InvalidInput(
            f"URL scheme {scheme!r} needs a package that is not installed: {error}."
        ) from error
    if options:
        made.retries = 1
    return made


def _s3_options() -> dict[str, Any]:
    """Return s3fs settings: short timeouts, no retries below ours, no request before a GET, checksums as the server likes."""
    region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    return {
        "client_kwargs": {"region_name": region} if region else {},
        "max_concurrency": 1,
        "config_kwargs": {
            "connect_timeout": CONNECT_SECONDS,
            "read_timeout": READ_SECONDS,
            "retries": {"total_max_attempts": 1, "mode": "standard"},
            "max_pool_connections": 32,
            "response_checksum_validation": "when_required",
            "request_checksum_calculation": "when_required",
        },
    }


def _await(
    loop: asyncio.AbstractEventLoop, start: Callable[[], Coroutine[Any, Any, Any]], seconds: float
) -> Any:
    """Run a coroutine on the client's own loop thread; it is cancelled there when the time is up or the caller is interrupted."""

    async def bounded() -> Any:
        return await asyncio.wait_for(start(), timeout=seconds)

    future = asyncio.run_coroutine_threadsafe(bounded(), loop)
    try:
        # The inner limit acts first; this one only guards against a loop that is itself stuck.
        return future.result(timeout=seconds + 10)
    except BaseException:
        future.cancel()
        raise


def _is_missing_bucket(error: BaseException) -> bool:
    return error_code(error) == "NoSuchBucket"
