"""The rules of flight over a cluster that is a list."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from tasks.cluster import flight
from tasks.cluster.capacity import Node
from tasks.cluster.flight import Calls, Flight
from tasks.failure import RetryPolicy, WorkerDied
from tasks.outcome import Outcome
from tasks.receipt import Receipt
from tasks.request import Request
from tasks.task_spec import Ask
from tests.support.toy_tasks import TOYS, ToyRequest
from vitgeom.errors import ResourceShortage, StoreError


class ListCluster:
    """Units run when they are fetched; each call to ``wait`` readies the one that was submitted last."""

    def __init__(self) -> None:
        self.machines: list[Node] = [{"CPU": 2.0, "memory": 1e9}]
        self.flying: dict[int, tuple[Callable[[Any], Receipt], Request]] = {}
        self.cancelled: list[int] = []
        self.most_in_flight = 0
        self.submitted = 0
        self.lands = True
        self.while_waiting: Callable[[], None] = lambda: None

    def submit(self, function: Callable[[Any], Receipt], request: Request, ask: Ask) -> int:
        self.submitted += 1
        self.flying[self.submitted] = (function, request)
        self.most_in_flight = max(self.most_in_flight, len(self.flying))
        return self.submitted

    def wait(self, tickets: Sequence[Any], *, timeout: float) -> Sequence[Any]:
        self.while_waiting()
        return [max(tickets)] if self.lands else []

    def fetch(self, ticket: Any) -> Receipt:
        function, request = self.flying.pop(ticket)
        return function(request)

    def cancel(self, ticket: Any) -> None:
        self.cancelled.append(ticket)

    def nodes(self) -> Sequence[Node]:
        return self.machines


def fly(cluster: Calls, requests: Sequence[Request], **options: Any) -> list[Receipt]:
    outcome = Outcome("toy", requests)
    fields = {
        "outcome": outcome,
        "landed": lambda receipt: None,
        "stop": threading.Event(),
        "policy": RetryPolicy(retries=2, first_pause=0.001),
        "max_in_flight": 3,
    }
    Flight(cluster, TOYS["toy"], requests, **{**fields, **options}).run()
    return outcome.receipts()


def toys(folder: Path, count: int, **options: Any) -> list[ToyRequest]:
    return [ToyRequest(folder=str(folder), number=number, **options) for number in range(count)]


def test_no_more_units_fly_than_allowed(tmp_path: Path) -> None:
    cluster = ListCluster()
    receipts = fly(cluster, toys(tmp_path, 10))
    assert [receipt.digest for receipt in receipts] == [str(number**2) for number in range(10)]
    assert cluster.most_in_flight == 3


def test_a_unit_that_failed_flies_again(tmp_path: Path) -> None:
    cluster = ListCluster()
    fly(cluster, toys(tmp_path, 2, trouble="store-once"))
    assert cluster.submitted == 4


def test_tries_are_bounded(tmp_path: Path) -> None:
    cluster = ListCluster()
    with pytest.raises(StoreError, match="failed after 3 attempts"):
        fly(cluster, toys(tmp_path, 1, trouble="store-always"))
    assert cluster.submitted == 3


def test_the_stop_event_cancels_everything_in_flight(tmp_path: Path) -> None:
    cluster, stop = ListCluster(), threading.Event()
    cluster.lands, cluster.while_waiting = False, stop.set
    with pytest.raises(AssertionError, match="neither stored nor given up"):
        fly(cluster, toys(tmp_path, 5), stop=stop)
    assert sorted(cluster.cancelled) == [1, 2, 3]
    assert cluster.submitted == 3


def test_a_broken_connection_cancels_everything_in_flight(tmp_path: Path) -> None:
    cluster = ListCluster()

    def break_down() -> None:
        raise WorkerDied("the head is gone.")

    cluster.while_waiting = break_down
    with pytest.raises(WorkerDied, match="the head is gone"):
        fly(cluster, toys(tmp_path, 5))
    assert sorted(cluster.cancelled) == [1, 2, 3]


def test_what_fits_no_machine_is_refused_before_anything_flies(tmp_path: Path) -> None:
    cluster = ListCluster()
    with pytest.raises(ResourceShortage, match="task toy: one unit asks for 3 CPU"):
        fly(cluster, [*toys(tmp_path, 1), *toys(tmp_path, 1, cpus=3.0)])
    assert cluster.submitted == 0


def test_a_growing_cluster_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flight, "POLL_SECONDS", 0.01)
    cluster = ListCluster()
    cluster.machines = []
    timer = threading.Timer(0.1, lambda: cluster.machines.append({"CPU": 2.0, "memory": 1e9}))
    timer.start()
    assert len(fly(cluster, toys(tmp_path, 2), wait_for_resources=30.0)) == 2
    timer.join()
    cluster.machines = []
    with pytest.raises(ResourceShortage, match="no machine that is alive"):
        fly(cluster, toys(tmp_path, 2), wait_for_resources=0.05)


def test_a_cluster_that_shrinks_below_the_unit_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(flight, "RECHECK_SECONDS", 0.0)
    cluster = ListCluster()
    cluster.lands, cluster.while_waiting = False, cluster.machines.clear
    with pytest.raises(ResourceShortage, match="no machine that is alive"):
        fly(cluster, toys(tmp_path, 2))
    assert sorted(cluster.cancelled) == [1, 2]
