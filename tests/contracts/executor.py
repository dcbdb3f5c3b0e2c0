"""What every engine must do, whatever it runs on. Inherit it and give an ``engine`` fixture."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from tasks.engine import Engine
from tasks.failure import StorageOverflow, WorkerDied, WorkerOutOfMemory
from tests.support.toy_tasks import ToyRequest, tries
from vitgeom.errors import InvalidInput, StoreError, UnknownName

MakeToys = Callable[..., list[ToyRequest]]


def toys(folder: Path, count: int, **options: object) -> list[ToyRequest]:
    return [ToyRequest(folder=str(folder), number=number, **options) for number in range(count)]


class EngineContract:
    """The fixture ``engine`` knows the toy tasks and tries twice more after a first failure, almost without pauses."""

    def test_it_is_an_engine(self, engine: Engine) -> None:
        assert isinstance(engine, Engine)

    def test_receipts_come_back_in_request_order(self, engine: Engine, tmp_path: Path) -> None:
        requests = [
            ToyRequest(folder=str(tmp_path), number=number, seconds=0.3 if number == 0 else 0.0)
            for number in range(5)
        ]
        receipts = engine.map("toy", requests)
        assert [receipt.digest for receipt in receipts] == ["0", "1", "4", "9", "16"]

    def test_no_requests_give_no_receipts(self, engine: Engine) -> None:
        assert engine.map("toy", []) == []

    def test_a_second_run_computes_nothing(self, engine: Engine, tmp_path: Path) -> None:
        first = engine.map("toy", toys(tmp_path, 3))
        second = engine.map("toy", toys(tmp_path, 3))
        assert [receipt.cached for receipt in first + second] == [False] * 3 + [True] * 3
        assert [receipt.digest for receipt in first] == [receipt.digest for receipt in second]

    def test_each_receipt_is_told_once_in_the_callers_thread(self, engine: Engine, tmp_path: Path) -> None:
        told = []
        engine.map(
            "toy",
            toys(tmp_path, 4),
            on_receipt=lambda receipt: told.append((receipt.key, threading.get_ident())),
        )
        assert sorted(told) == [(f"toy[{number}]", threading.get_ident()) for number in range(4)]

    @pytest.mark.parametrize("trouble", ["store", "death"])
    def test_every_third_unit_fails_once_and_heals(
        self, engine: Engine, tmp_path: Path, trouble: str
    ) -> None:
        requests = [
            ToyRequest(
                folder=str(tmp_path), number=number, trouble=f"{trouble}-once" if number % 3 == 2 else ""
            )
            for number in range(6)
        ]
        receipts = engine.map("toy", requests)
        assert [receipt.digest for receipt in receipts] == ["0", "1", "4", "9", "16", "25"]
        assert [len(tries(tmp_path, number)) for number in range(6)] == [1, 1, 2, 1, 1, 2]

    def test_a_lasting_failure_names_the_unit_and_keeps_the_others(
        self, engine: Engine, tmp_path: Path
    ) -> None:
        requests = [
            ToyRequest(folder=str(tmp_path), number=n, trouble="store-always" if n == 1 else "")
            for n in range(5)
        ]
        with pytest.raises(
            StoreError,
            match=r"squares: unit toy\[1\] failed after 3 attempts: .*does not answer.* 4 of 5 units .* the same command computes only",
        ):
            engine.map("toy", requests, label="squares")
        assert len(tries(tmp_path, 1)) == 3
        assert sorted(path.name for path in tmp_path.glob("?.txt")) == ["0.txt", "2.txt", "3.txt", "4.txt"]

    def test_a_worker_that_always_dies_is_given_up(self, engine: Engine, tmp_path: Path) -> None:
        with pytest.raises(
            WorkerDied, match=r"unit toy\[0\] failed after 3 attempts: the worker process died"
        ):
            engine.map("toy", toys(tmp_path, 1, trouble="death-always"))
        assert len(tries(tmp_path, 0)) == 3

    def test_bad_input_is_not_tried_again(self, engine: Engine, tmp_path: Path) -> None:
        with pytest.raises(InvalidInput, match=r"unit toy\[0\] failed after 1 attempt: number must be even"):
            engine.map("toy", toys(tmp_path, 1, trouble="input-always"))
        assert len(tries(tmp_path, 0)) == 1

    def test_a_slip_keeps_its_type(self, engine: Engine, tmp_path: Path) -> None:
        with pytest.raises(KeyError, match="a slip of our own") as caught:
            engine.map("toy", toys(tmp_path, 1, trouble="bug-always"))
        assert any("unit toy[0] failed after 1 attempt" in note for note in caught.value.__notes__)

    def test_out_of_memory_is_tried_with_less(self, engine: Engine, tmp_path: Path) -> None:
        with pytest.raises(WorkerOutOfMemory, match="failed after 3 attempts: batch_size does not fit"):
            engine.map("toy", toys(tmp_path, 1, trouble="memory-always", size=8))
        assert [line.split()[-1] for line in tries(tmp_path, 0)] == ["size=8", "size=4", "size=2"]

    def test_an_overflow_stops_the_work(self, engine: Engine, tmp_path: Path) -> None:
        requests = [
            ToyRequest(
                folder=str(tmp_path),
                number=number,
                trouble="overflow-always" if number == 0 else "",
                seconds=0.05,
            )
            for number in range(12)
        ]
        with pytest.raises(StorageOverflow, match="Use storage='float32'"):
            engine.map("toy", requests)
        assert len(list(tmp_path.glob("??.txt"))) == 0, (
            "units far behind the overflow must not have been started"
        )

    def test_three_failed_units_end_the_work(self, engine: Engine, tmp_path: Path) -> None:
        with pytest.raises(InvalidInput, match=r"[2-5] more units failed"):
            engine.map("toy", toys(tmp_path, 30, trouble="input-always"))
        assert len(list(tmp_path.glob("tries-*.log"))) <= 6

    def test_it_works_on_after_a_failure(self, engine: Engine, tmp_path: Path) -> None:
        with pytest.raises(InvalidInput, match="number must be even"):
            engine.map("toy", toys(tmp_path, 1, trouble="input-always"))
        assert engine.map("toy", [ToyRequest(folder=str(tmp_path), number=7)])[0].digest == "49"

    def test_an_unknown_task_is_named(self, engine: Engine, tmp_path: Path) -> None:
        with pytest.raises(UnknownName, match=r"unknown task 'toi'. Did you mean 'toy'"):
            engine.map("toi", toys(tmp_path, 1))
