"""The two threads of the Ray engine, with a connection that is not Ray."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tasks.cluster import engine as engine_module
from tasks.cluster.connect import RayDidNotStart
from tasks.cluster.engine import STARTS, RayEngine
from tasks.failure import EngineClosed
from tests.support.toy_tasks import TOYS, ToyRequest
from tests.tasks.cluster.test_flight import ListCluster, toys
from vitgeom.errors import ResourceShortage


class FakeConnection(ListCluster):
    """A cluster in a list that remembers who opened and closed it."""

    opened: list[int]
    closed: list[int]
    before_opening: Callable[[], None]
    latest: FakeConnection

    def __init__(self, *, address: str, num_cpus: int | None) -> None:
        super().__init__()
        self.opened.append(threading.get_ident())
        type(self).before_opening()
        self.keep_logs = False
        type(self).latest = self

    def close(self) -> None:
        self.closed.append(threading.get_ident())


@pytest.fixture
def connection(monkeypatch: pytest.MonkeyPatch) -> type[FakeConnection]:
    fresh: Any = type(
        "Fresh", (FakeConnection,), {"opened": [], "closed": [], "before_opening": staticmethod(lambda: None)}
    )
    monkeypatch.setattr(engine_module, "Connection", fresh)
    return fresh  # type: ignore[no-any-return]


def test_one_thread_opens_works_and_closes(connection: type[FakeConnection], tmp_path: Path) -> None:
    engine = RayEngine(catalogue=TOYS)
    assert connection.opened == []
    engine.map("toy", toys(tmp_path, 3))
    engine.map("toy", toys(tmp_path, 4))
    engine.close()
    assert len(connection.opened) == len(connection.closed) == 1
    assert connection.opened == connection.closed != [threading.get_ident()]


def failing_starts(count: int) -> Callable[[], None]:
    left = [count]

    def start() -> None:
        left[0] -= 1
        if left[0] >= 0:
            raise RayDidNotStart("the machine is busy.")

    return start


def test_a_start_that_failed_is_tried_again_by_a_new_thread(
    connection: type[FakeConnection], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    alive: list[int] = []
    others = ray_threads()  # an engine that other tests share may be running
    connection.before_opening = staticmethod(counted(alive, failing_starts(STARTS - 1)))
    engine = RayEngine(catalogue=TOYS)
    assert engine.map("toy", toys(tmp_path, 2))[1].digest == "1"
    engine.close()
    assert alive == [others + 1] * STARTS, (
        "the thread of the failed start must have ended before the next one begins"
    )
    assert "the machine is busy. (try 1 of 3)" in caplog.text


def ray_threads() -> int:
    return sum(thread.name == "vitgeom-ray" for thread in threading.enumerate())


def counted(alive: list[int], then: Callable[[], None]) -> Callable[[], None]:
    def start() -> None:
        alive.append(ray_threads())
        then()

    return start


def test_starts_are_bounded(connection: type[FakeConnection], tmp_path: Path) -> None:
    connection.before_opening = staticmethod(failing_starts(99))
    engine = RayEngine(catalogue=TOYS)
    with pytest.raises(RayDidNotStart, match="the machine is busy"):
        engine.map("toy", toys(tmp_path, 2))
    assert len(connection.opened) == STARTS
    engine.close()


def test_another_failure_to_connect_is_not_tried_again(
    connection: type[FakeConnection], tmp_path: Path
) -> None:
    def refuse() -> None:
        raise ResourceShortage("cannot reach the Ray cluster at head:1.")

    connection.before_opening = staticmethod(refuse)
    engine = RayEngine(address="head:1", catalogue=TOYS)
    with pytest.raises(ResourceShortage, match="cannot reach the Ray cluster"):
        engine.map("toy", toys(tmp_path, 2))
    assert len(connection.opened) == 1
    engine.close()


class Interrupted(BaseException):
    """Like KeyboardInterrupt, but not one."""


def test_whatever_interrupts_the_caller_ends_running_units_and_the_engine(
    connection: type[FakeConnection], tmp_path: Path
) -> None:
    engine = RayEngine(catalogue=TOYS, max_in_flight=2)

    def interrupt(receipt: object) -> None:
        connection.latest.lands = False
        raise Interrupted

    with pytest.raises(Interrupted):
        engine.map("toy", toys(tmp_path, 9, seconds=0.02), on_receipt=interrupt)
    assert len(connection.latest.cancelled) >= 1
    assert len(connection.closed) == 1
    with pytest.raises(EngineClosed, match="this engine is closed"):
        engine.map("toy", toys(tmp_path, 1))


def test_closing_from_another_thread_ends_a_map(connection: type[FakeConnection], tmp_path: Path) -> None:
    engine = RayEngine(catalogue=TOYS)
    connection.before_opening = staticmethod(lambda: None)
    engine.map("toy", toys(tmp_path, 1))
    connection.latest.lands = False
    timer = threading.Timer(0.3, engine.close)
    timer.start()
    began = time.monotonic()
    with pytest.raises(EngineClosed, match="stored units are kept"):
        engine.map("toy", [ToyRequest(folder=str(tmp_path), number=5)])
    assert time.monotonic() - began < 5.0
    timer.join()
    assert len(connection.latest.cancelled) == 1
