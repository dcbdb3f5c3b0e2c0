"""All backbones of a dataset are fused once; a dataset with one of them is skipped and says so."""

from __future__ import annotations

import json
from pathlib import Path

from safetensors.torch import load

from flows.horizontal import horizontal, several_backbones
from flows.study import Study
from tests.support.counting_engine import CountingEngine


def written(folder: Path) -> tuple[Path, Path]:
    table, answers = sorted((folder / "results" / "small" / "horizontal").iterdir())
    assert (table.suffix, answers.suffix) == (".json", ".safetensors")
    return table, answers


def test_backbones_of_a_dataset_are_fused_once(two_cells: Path, counting_engine: CountingEngine) -> None:
    [first] = horizontal.fn(Study())
    [second] = horizontal.fn(Study())

    assert counting_engine.calls == [("fit_horizontal", 1)]
    assert first.receipt is not None
    assert second.receipt == first.receipt.model_copy(update={"cached": True})
    table, answers = written(two_cells)
    assert json.loads(table.read_text())["comparison"]["reference"] == "hfusion"
    assert "hfusion" in load(answers.read_bytes())


def test_a_dataset_with_one_backbone_is_skipped_and_says_so(
    two_cells: Path, counting_engine: CountingEngine
) -> None:
    [_, left] = Study().resolve().cells
    assert horizontal.fn(Study(), left_out=[left.name]) == []
    table, answers = written(two_cells)
    assert load(answers.read_bytes()) == {}
    assert json.loads(table.read_text()) == {"skipped": "horizontal fusion needs at least 2 backbones"}
    assert several_backbones([left]) == {}
