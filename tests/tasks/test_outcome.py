"""What one map amounts to: receipts in order, or the most telling failure."""

from __future__ import annotations

import pytest

from tasks.failure import StorageOverflow, WorkerDied
from tasks.outcome import GIVE_UP_AFTER, Outcome
from tests.support.toy_tasks import ToyRequest
from tests.tasks.test_receipt import receipt
from vitgeom.errors import InvalidInput, StoreError


def outcome(count: int) -> Outcome:
    return Outcome(
        "toy", [ToyRequest(folder="/f", number=number) for number in range(count)], label="squares"
    )


def test_receipts_come_in_request_order() -> None:
    three = outcome(3)
    for index in (2, 0, 1):
        three.stored(index, receipt(key=str(index)))
    assert [one.key for one in three.receipts()] == ["0", "1", "2"]


def test_the_error_names_unit_attempts_and_what_is_kept() -> None:
    two = outcome(2)
    two.stored(0, receipt())
    two.failed(1, StoreError("disk is full."), attempts=3)
    with pytest.raises(
        StoreError,
        match=r"^squares: unit toy\[1\] failed after 3 attempts: disk is full. 1 of 2 units of this run are stored",
    ):
        two.receipts()


def test_an_error_that_stops_the_work_comes_before_the_others() -> None:
    two = outcome(2)
    two.failed(0, InvalidInput("odd."), attempts=1)
    assert not two.halted
    two.failed(1, StorageOverflow("too large."), attempts=1)
    assert two.halted
    with pytest.raises(
        StorageOverflow, match=r"unit toy\[1\] failed after 1 attempt: too large. 1 more unit failed."
    ):
        two.receipts()


def test_work_halts_after_a_few_failed_units() -> None:
    many = outcome(10)
    for index in range(GIVE_UP_AFTER):
        assert not many.halted
        many.failed(index, InvalidInput("odd."), attempts=1)
    assert many.halted


def test_lost_workers_are_remembered() -> None:
    one = outcome(1)
    assert not one.lost_workers
    one.failed(0, WorkerDied("gone."), attempts=3)
    assert one.lost_workers
