"""The diagnosis as a sub-flow: files in the results folder, nothing twice, and a cell that cannot be diagnosed stops nobody."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from flows.diagnose import diagnose
from flows.outcome import PartsFailed
from flows.study import Study
from tests.flows.conftest import TWO_BACKBONES
from tests.flows.params_text import write_small


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_small(tmp_path, backbones=TWO_BACKBONES)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("VITGEOM_STORE", raising=False)
    return tmp_path


def files(folder: Path) -> dict[str, bytes]:
    return {
        str(path): path.read_bytes()
        for path in (folder / "results/small/features").rglob("*.directions.json")
    }


def test_every_cell_leaves_a_file_and_a_second_run_computes_nothing(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = diagnose.fn(Study())
    before = files(folder)
    assert len(before) == 2
    for data in before.values():
        assert [pair["decoder"] for pair in json.loads(data)["pairs"]] == [
            {"name": "cls", "layer": 10, "metric": "euclidean"},
            {"name": "patch_mean", "layer": 10, "metric": "euclidean"},
        ]
    again = diagnose.fn(Study())
    assert [outcome.receipt.cached for outcome in (*first, *again) if outcome.receipt] == [False] * 2 + [
        True
    ] * 2
    assert files(folder) == before
    assert "share of the best directions: cls-layer10 0." in capsys.readouterr().out


def test_a_layer_that_one_backbone_has_not_is_told_for_each_cell(folder: Path) -> None:
    with pytest.raises(PartsFailed, match="layer"):
        diagnose.fn(Study(overrides=("diagnose.layers=[99]",)))
    assert not files(folder)


def test_cells_can_be_left_out(folder: Path) -> None:
    cells = Study().resolve().cells
    [outcome] = diagnose.fn(Study(), left_out=[cells[0].name])
    assert outcome.cell.name == cells[1].name


def test_no_features_are_needed(folder: Path) -> None:
    diagnose.fn(Study())
    assert not (folder / ".vitgeom/store/features").exists()
