"""Units of many cells in one call: what is done is told, and a failure is left to its cell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from flows.cell import Cell
from flows.together import CellWork
from tasks.engine import SerialEngine
from tasks.receipt import Receipt
from tasks.request import ProbeRequest
from vitgeom.backbones import BackboneRef
from vitgeom.data import DatasetRef
from vitgeom.errors import InvalidInput, StoreError


def probe_of(dataset: str) -> ProbeRequest:
    return ProbeRequest(store="/s", address=f"features/{dataset}/nano/00aa", manifest_digest="d" * 64)


def receipt_of(request: ProbeRequest) -> Receipt:
    return Receipt(
        task="fit_probes",
        key=request.key,
        uri="/s",
        digest="d",
        seconds=1,
        peak_bytes=1,
        cached=False,
        rows=1,
    )


class Broken(SerialEngine):
    """Does all but the last unit."""

    def map(
        self, task_name: str, requests: Sequence[Any], *, on_receipt: Any = None, **options: Any
    ) -> list[Receipt]:
        for request in requests[:-1]:
            on_receipt(receipt_of(request))
        raise StoreError("the disk is full")


def cell_of(dataset: str) -> Cell:
    return Cell(dataset, "nano", DatasetRef(name=dataset), BackboneRef(name="nano"))


ROWS = {"digits": 20, "photos": 50, "scenes": 30, "empty": 10}


def stored(request: ProbeRequest) -> Receipt | None:
    return receipt_of(request) if "scenes" in request.address else None


def request_of(cell: Cell) -> ProbeRequest:
    if cell.dataset == "empty":
        raise InvalidInput("no features yet")
    return probe_of(cell.dataset)


WORK = CellWork(
    verb="probe", what="probes", request=request_of, stored=stored, rows=lambda cell: ROWS[cell.dataset]
)


def test_only_what_can_be_done_and_is_not_stored_is_missing_and_the_largest_comes_first() -> None:
    missing = WORK.missing([cell_of(dataset) for dataset in ROWS])
    assert missing == {"photos × nano": probe_of("photos"), "digits × nano": probe_of("digits")}
    assert list(missing) == ["photos × nano", "digits × nano"]


def test_what_was_done_before_a_failure_is_kept_and_told(capsys: pytest.CaptureFixture[str]) -> None:
    missing = {"digits": probe_of("digits"), "photos": probe_of("photos")}
    fitted = WORK.map_together(missing, engine=Broken())

    assert list(fitted) == [missing["digits"].key]
    told = capsys.readouterr()
    text = told.out + told.err
    assert "fitting the probes of 2 cells" in text
    assert "probe digits: fitted in 1.0 s  (1 of 2)" in text
    assert (
        "not all of 2 cells could be fitted together, the rest is tried one by one: the disk is full" in text
    )


class Alone(SerialEngine):
    """Counts the units that it does."""

    def __init__(self) -> None:
        self.done: list[str] = []

    def map(
        self, task_name: str, requests: Sequence[Any], *, on_receipt: Any = None, **options: Any
    ) -> list[Receipt]:
        self.done += [request.key for request in requests]
        return [receipt_of(request) for request in requests]


def test_a_receipt_is_taken_from_this_run_or_the_store_before_a_unit_is_done() -> None:
    engine = Alone()
    photos, mine = probe_of("photos"), receipt_of(probe_of("photos"))
    assert WORK.receipt(cell_of("photos"), engine=engine, fitted={photos.key: mine}) is mine
    assert WORK.receipt(cell_of("scenes"), engine=engine, fitted={}) == receipt_of(probe_of("scenes"))
    assert engine.done == []
    assert WORK.receipt(cell_of("digits"), engine=engine, fitted={}) == receipt_of(probe_of("digits"))
    assert engine.done == [probe_of("digits").key]


def test_a_cell_without_features_fails_by_itself() -> None:
    with pytest.raises(InvalidInput, match="no features yet"):
        WORK.receipt(cell_of("empty"), engine=Alone(), fitted={})
