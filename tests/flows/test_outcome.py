"""One cell that fails is reported, and the others go on."""

from __future__ import annotations

import pytest

from flows.cell import Cell
from flows.outcome import PartsFailed, attempt_each, require_all
from tasks.receipt import Receipt
from vitgeom.backbones import BackboneRef
from vitgeom.data import DatasetRef
from vitgeom.errors import StoreError

CELLS = [Cell(name, "nano", DatasetRef(name), BackboneRef("nano")) for name in ("one", "two", "three")]


def receipt(cell: Cell) -> Receipt:
    return Receipt(
        task="t", key=cell.name, uri="u", digest="d", seconds=0, peak_bytes=0, cached=False, rows=1
    )


def fails_on_two(cell: Cell) -> Receipt:
    if cell.dataset == "two":
        raise StoreError("the disk\nis full")
    return receipt(cell)


def test_the_others_go_on_and_the_failure_is_told_at_once() -> None:
    told: list[str] = []
    outcomes = attempt_each(CELLS, fails_on_two, on_failure=lambda cell, error: told.append(cell.name))

    assert [outcome.receipt is not None for outcome in outcomes] == [True, False, True]
    assert outcomes[1].problem == "StoreError: the disk is full"
    assert told == ["two × nano"]


def test_an_incomplete_step_is_refused_with_every_reason_and_the_way_on() -> None:
    outcomes = attempt_each(CELLS, fails_on_two, on_failure=lambda cell, error: None)

    with pytest.raises(
        PartsFailed,
        match=r"extract: 1 of 3 failed.*\n  two × nano: StoreError: the disk is full\n.*same command",
    ) as failed:
        require_all("extract", outcomes)
    assert failed.value.outcomes == tuple(outcomes)


def test_a_complete_step_passes() -> None:
    outcomes = attempt_each(CELLS, receipt, on_failure=lambda cell, error: None)

    assert require_all("extract", outcomes) == outcomes


def test_an_interruption_is_not_taken_for_a_failure() -> None:
    def interrupted(cell: Cell) -> Receipt:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        attempt_each(CELLS, interrupted, on_failure=lambda cell, error: None)
