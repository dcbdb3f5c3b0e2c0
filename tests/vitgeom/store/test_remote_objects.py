from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

import fsspec.asyn
import pytest
from botocore.exceptions import ClientError, EndpointConnectionError

from tests.support.s3_server import S3Server
from vitgeom.errors import UnknownName
from vitgeom.store import remote_objects
from vitgeom.store.objects import Objects
from vitgeom.store.remote_objects import ATTEMPTS, RemoteObjects, file_system


class _Scripted:
    """An asynchronous file system whose every call is answered by one function."""

    async_impl = True

    def __init__(self, answer: Callable[[int], Awaitable[Any]]) -> None:
        self.loop = fsspec.asyn.get_loop()
        self.calls = 0
        self._answer = answer

    async def _cat_file(self, path: str) -> Any:
        self.calls += 1
        return await self._answer(self.calls)

    async def _pipe_file(self, path: str, data: bytes, mode: str) -> Any:
        self.calls += 1
        return await self._answer(self.calls)


def _scripted(
    monkeypatch: pytest.MonkeyPatch, answer: Callable[[int], Awaitable[Any]], *, deadline: float = 20.0
) -> tuple[RemoteObjects, _Scripted]:
    scripted = _Scripted(answer)
    monkeypatch.setattr(remote_objects, "file_system", lambda scheme: scripted)
    monkeypatch.setattr(remote_objects, "FIRST_PAUSE_SECONDS", 0.001)
    return RemoteObjects("s3", "bucket", deadline=deadline), scripted


def _slow_down() -> ClientError:
    return ClientError(
        {"Error": {"Code": "SlowDown"}, "ResponseMetadata": {"HTTPStatusCode": 503}}, "PutObject"
    )


def test_remote_objects_are_objects() -> None:
    assert isinstance(RemoteObjects("memory", "x", deadline=1.0), Objects)


def test_a_busy_server_is_asked_a_fixed_number_of_times(monkeypatch: pytest.MonkeyPatch) -> None:
    async def answer(call: int) -> None:
        raise _slow_down()

    objects, scripted = _scripted(monkeypatch, answer)
    with pytest.raises(ClientError, match="SlowDown"):
        objects.put("k", b"1")
    assert scripted.calls == ATTEMPTS


def test_what_passes_in_time_is_not_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    async def answer(call: int) -> bytes:
        if call < ATTEMPTS:
            raise EndpointConnectionError(endpoint_url="http://host")
        return b"data"

    objects, scripted = _scripted(monkeypatch, answer)
    assert objects.get("k") == b"data"
    assert scripted.calls == ATTEMPTS


def test_refused_credentials_are_not_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    async def answer(call: int) -> None:
        raise PermissionError("AccessDenied")

    objects, scripted = _scripted(monkeypatch, answer)
    with pytest.raises(PermissionError):
        objects.put("k", b"1")
    assert scripted.calls == 1


def test_an_operation_that_never_ends_is_cancelled_at_the_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    cancelled = []

    async def answer(call: int) -> None:
        try:
            await asyncio.sleep(600)
        except asyncio.CancelledError:
            cancelled.append(call)
            raise

    objects, scripted = _scripted(monkeypatch, answer, deadline=0.6)
    started = time.monotonic()
    with pytest.raises(TimeoutError):
        objects.put("k", b"1")
    assert time.monotonic() - started < 5
    assert 2 <= scripted.calls == len(cancelled)


def test_large_objects_get_more_time(monkeypatch: pytest.MonkeyPatch) -> None:
    async def answer(call: int) -> None:
        await asyncio.sleep(0.6)

    objects, _ = _scripted(monkeypatch, answer, deadline=0.5)
    with pytest.raises(TimeoutError):
        objects.put("k", b"1")
    objects.put("k", bytes(2_000_000))


def test_one_client_per_process_and_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    first = file_system("memory")
    assert file_system("memory") is first
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "another")
    assert file_system("memory") is not first


def test_an_unknown_scheme_is_refused() -> None:
    with pytest.raises(UnknownName, match="unknown URL scheme 'nfs9'"):
        file_system("nfs9")


@pytest.mark.services
def test_reading_an_object_takes_one_request(s3_environment: S3Server) -> None:
    """No look-up before the GET, no retries below ours, one pool of connections."""
    s3_environment.bucket("one-request")
    objects = RemoteObjects("s3", "one-request/x", deadline=30.0)
    objects.put("k", b"1")
    client = objects._file_system
    assert client.retries == 1
    assert client._s3.meta.config.retries["total_max_attempts"] == 1
    calls = []
    original = client._call_s3

    async def counted(method: str, *args: Any, **kwargs: Any) -> Any:
        calls.append(method)
        return await original(method, *args, **kwargs)

    client._call_s3 = counted
    try:
        assert objects.get("k") == b"1"
        assert objects.get("missing") is None
    finally:
        del client._call_s3
    assert calls == ["get_object", "get_object"]


@pytest.mark.services
def test_large_objects_travel_whole(s3_environment: S3Server) -> None:
    s3_environment.bucket("large-objects")
    objects = RemoteObjects("s3", "large-objects", deadline=60.0)
    data = bytes(range(256)) * 50_000
    objects.put("large", data)
    assert objects.get("large") == data


@pytest.mark.services
def test_more_names_than_one_page_are_listed(s3_environment: S3Server) -> None:
    s3_environment.bucket("many-names")
    for number in range(1100):
        (s3_environment.folder / "many-names" / "folder").mkdir(exist_ok=True)
        (s3_environment.folder / "many-names" / "folder" / f"{number:04d}").write_bytes(b"")
    assert len(RemoteObjects("s3", "many-names", deadline=60.0).children("folder")) == 1100
