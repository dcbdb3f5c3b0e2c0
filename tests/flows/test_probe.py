"""Cells are fitted together; one that cannot be fitted does not take the others with it."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from flows import engine_scope
from flows.outcome import PartsFailed
from flows.probe import probe
from flows.study import Study
from tasks.engine import SerialEngine
from tests.flows.params_text import RANDOM_VIT, write_small

TWO = "[{name: noise, options: {n: 60, classes: 3, size: 32}}, {name: noise, options: {n: 50, classes: 2, size: 32}}]"


class Counting(SerialEngine):
    """Runs everything in this process and remembers how many units each call had."""

    def __init__(self) -> None:
        super().__init__(retries=0)
        self.calls: list[int] = []

    def map(self, task_name: str, requests: Sequence[Any], **options: Any) -> list[Any]:
        self.calls.append(len(requests))
        return super().map(task_name, requests, **options)


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Counting:
    counting = Counting()
    token = engine_scope._open.set(counting)
    yield counting
    engine_scope._open.reset(token)


@pytest.fixture
def extracted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: Counting) -> Path:
    """A folder with the features of two cells."""
    from flows.extract import extract

    monkeypatch.delenv("VITGEOM_STORE", raising=False)
    write_small(tmp_path, datasets=TWO, backbones=RANDOM_VIT)
    extract.fn(Study())
    engine.calls.clear()
    return tmp_path


def test_missing_cells_are_fitted_in_one_call_and_stored_ones_in_none(
    extracted: Path, engine: Counting
) -> None:
    first = probe.fn(Study())
    assert engine.calls == [2]
    assert [outcome.receipt.cached for outcome in first] == [False, False]

    second = probe.fn(Study())
    assert engine.calls == [2]
    assert [outcome.receipt.cached for outcome in second] == [True, True]
    assert [outcome.receipt.digest for outcome in second] == [outcome.receipt.digest for outcome in first]


def test_a_cell_without_features_fails_alone(extracted: Path, engine: Counting) -> None:
    lost, kept = sorted((extracted / ".vitgeom" / "store" / "features").iterdir())
    shutil.rmtree(lost)

    with pytest.raises(PartsFailed, match="probe: 1 of 2 failed") as failed:
        probe.fn(Study())

    assert {outcome.cell.dataset: outcome.receipt is not None for outcome in failed.value.outcomes} == {
        lost.name: False,
        kept.name: True,
    }


def test_cells_that_are_left_out_are_not_touched(extracted: Path, engine: Counting) -> None:
    [first, second] = Study().resolve().cells
    outcomes = probe.fn(Study(), left_out=[first.name])

    assert [outcome.cell.name for outcome in outcomes] == [second.name]
    assert engine.calls == [1]
