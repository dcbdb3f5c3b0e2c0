"""Cells are fused together, stored ones not again; a method that fails is told and a cell that fails stops nobody."""

from __future__ import annotations

from pathlib import Path

import pytest

from flows.fuse import fuse
from flows.outcome import PartsFailed
from flows.study import Study
from tests.support.counting_engine import CountingEngine


def test_missing_cells_are_fused_in_one_call_and_stored_ones_in_none(
    two_cells: Path, counting_engine: CountingEngine
) -> None:
    first = fuse.fn(Study())
    assert counting_engine.calls == [("fit_fusion", 2)]
    assert [outcome.receipt.cached for outcome in first if outcome.receipt] == [False, False]

    second = fuse.fn(Study())
    assert counting_engine.calls == [("fit_fusion", 2)]
    assert [outcome.receipt.cached for outcome in second if outcome.receipt] == [True, True]
    assert len(list((two_cells / "results" / "small" / "fusion").glob("*/*.json"))) == 2


def test_a_method_that_fails_is_told_and_the_cell_is_done(
    two_cells: Path, counting_engine: CountingEngine, capsys: pytest.CaptureFixture[str]
) -> None:
    [done, left] = Study().resolve().cells
    study = Study(overrides=("fusion.encoder.latent_dim=4000",), out="results/small")
    [outcome] = fuse.fn(study, left_out=[left.name])

    assert outcome.cell.name == done.name
    assert outcome.receipt is not None
    assert set(outcome.receipt.detail["failures"]) == {"vfusion"}
    told = capsys.readouterr()
    assert f"{done.name}: vfusion could not be fitted: InvalidInput: latent_dim" in told.out + told.err


def test_a_cell_without_features_fails_alone(two_cells: Path, counting_engine: CountingEngine) -> None:
    lost, *_ = sorted((two_cells / "results" / "small" / "features").glob("*/*.json"))
    lost.unlink()
    with pytest.raises(PartsFailed, match="fuse: 1 of 2 failed"):
        fuse.fn(Study())
