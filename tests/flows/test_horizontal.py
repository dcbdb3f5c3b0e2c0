"""All backbones of a dataset are fused once; a dataset with one of them is skipped and says so."""

from __future__ import annotations

import json
from pathlib import Path

from flows.horizontal import horizontal, several_backbones
from flows.study import Study
from tests.support.counting_engine import CountingEngine


def test_backbones_of_a_dataset_are_fused_once(two_cells: Path, counting_engine: CountingEngine) -> None:
    [first] = horizontal.fn(Study())
    [second] = horizontal.fn(Study())

    assert counting_engine.calls == [("fit_horizontal", 1)]
    assert first.receipt is not None
    assert second.receipt == first.receipt.model_copy(update={"cached": True})
    [file] = (two_cells / "results" / "small" / "horizontal").iterdir()
    assert json.loads(file.read_text())["comparison"]["reference"] == "hfusion"


def test_a_dataset_with_one_backbone_is_skipped_and_says_so(
    two_cells: Path, counting_engine: CountingEngine
) -> None:
    [_, left] = Study().resolve().cells
    assert horizontal.fn(Study(), left_out=[left.name]) == []
    [file] = (two_cells / "results" / "small" / "horizontal").iterdir()
    assert json.loads(file.read_text()) == {"skipped": "horizontal fusion needs at least 2 backbones"}
    assert several_backbones([left]) == {}
