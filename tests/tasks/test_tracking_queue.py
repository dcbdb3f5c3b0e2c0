"""Waiting records are delivered in order, once, and stay when delivery breaks."""

from __future__ import annotations

from pathlib import Path

import pytest

from tasks.tracking_queue import TrackingQueue
from tasks.tracking_record import Metric, StudyRecord


def record(key: str, value: float = 0.0) -> StudyRecord:
    return StudyRecord("experiment", "name", key, metrics=(Metric("m", value),))


def test_records_are_delivered_in_order_and_the_file_goes(tmp_path: Path) -> None:
    queue = TrackingQueue(tmp_path / "deep" / "queue.jsonl")
    for key in "abc":
        queue.add(record(key))
    seen: list[str] = []

    assert queue.drain(lambda waiting: seen.append(waiting.key)) == 3
    assert seen == ["a", "b", "c"]
    assert not queue.path.exists()


def test_a_newer_record_replaces_the_older_one_of_the_same_study(tmp_path: Path) -> None:
    queue = TrackingQueue(tmp_path / "queue.jsonl")
    queue.add(record("a", 1.0))
    queue.add(record("a", 2.0))
    seen: list[StudyRecord] = []
    queue.drain(seen.append)

    assert seen == [record("a", 2.0)]


def test_what_was_not_delivered_stays(tmp_path: Path) -> None:
    queue = TrackingQueue(tmp_path / "queue.jsonl")
    for key in "abc":
        queue.add(record(key))

    def breaks_at_b(waiting: StudyRecord) -> None:
        if waiting.key == "b":
            raise ConnectionError("gone")

    with pytest.raises(ConnectionError, match="gone"):
        queue.drain(breaks_at_b)

    assert len(queue) == 2


def test_an_empty_queue_delivers_nothing_and_makes_no_file(tmp_path: Path) -> None:
    queue = TrackingQueue(tmp_path / "queue.jsonl")

    assert queue.drain(lambda waiting: None) == 0
    assert list(tmp_path.iterdir()) == []
