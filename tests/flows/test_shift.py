"""Fitted classifiers under shift: everything missing together, nothing twice, and a cell that cannot be asked stops nobody."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from flows.extract import extract
from flows.fuse import fuse
from flows.outcome import PartsFailed
from flows.results import Results
from flows.shift import said, shift
from flows.shifted_cells import shifted_parts
from flows.study import Study
from tasks.receipt import Receipt
from tests.flows.conftest import TWO_BACKBONES
from tests.flows.params_text import RANDOM_VIT, write_small
from tests.support.counting_engine import CountingEngine
from vitgeom.errors import InvalidInput

SCENES = "[{name: spurious_scenes, options: {size: 32, train: 40, val: 16, test: 20}}]"


@pytest.fixture(scope="module")
def fused_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the fused classifiers of two cells; tests take a copy."""
    folder = tmp_path_factory.mktemp("fused")
    write_small(folder, backbones=TWO_BACKBONES)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.delenv("VITGEOM_STORE", raising=False)
        extract.fn(Study())
        fuse.fn(Study())
    return folder


@pytest.fixture
def fused(fused_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of such a folder, and the current one."""
    shutil.copytree(fused_folder, tmp_path / "study")
    monkeypatch.chdir(tmp_path / "study")
    monkeypatch.delenv("VITGEOM_STORE", raising=False)
    return tmp_path / "study"


def written(folder: Path) -> list[dict[str, Any]]:
    files = sorted((folder / "results" / "small" / "fusion").glob("*/*.shift.json"))
    return [json.loads(file.read_bytes()) for file in files]


def test_missing_sets_go_to_the_engine_together_and_stored_ones_not_at_all(
    fused: Path, counting_engine: CountingEngine
) -> None:
    first = shift.fn(Study())
    # Two cells under one corruption at two severities and as they are; 20 test images are two ranges of 16 rows.
    units = [name for name, _ in counting_engine.calls]
    assert units == ["extract_features", "evaluate_shift"]
    assert counting_engine.calls[1] == ("evaluate_shift", 6)
    assert [outcome.receipt.cached for outcome in first if outcome.receipt] == [False, False]
    before = written(fused)
    assert [len(content["conditions"]) for content in before] == [2, 2]

    second = shift.fn(Study())
    assert len(counting_engine.calls) == 2
    assert [outcome.receipt.cached for outcome in second if outcome.receipt] == [True, True]
    assert written(fused) == before


def test_a_severity_more_asks_for_that_one_only(fused: Path, counting_engine: CountingEngine) -> None:
    shift.fn(Study(), left_out=[Study().resolve().cells[1].name])
    assert counting_engine.calls[-1] == ("evaluate_shift", 3)
    study = Study(overrides=("shift.severities=[1, 3, 5]",), out="results/small")
    shift.fn(study, left_out=[study.resolve().cells[1].name])
    # A single unit goes to the engine by itself.
    assert counting_engine.calls[-1] == ("evaluate_shift", 1)
    assert [one["condition"]["severity"] for one in written(fused)[0]["conditions"]] == [1, 3, 5]


def test_fused_results_are_left_as_they_are(fused: Path, counting_engine: CountingEngine) -> None:
    def files() -> dict[str, bytes]:
        places = (fused / "results" / "small" / "fusion", fused / ".vitgeom" / "store" / "fusion")
        return {
            str(path): path.read_bytes()
            for place in places
            for path in place.rglob("*")
            if path.is_file() and not path.name.endswith(".shift.json")
        }

    before = files()
    assert before
    shift.fn(Study())
    assert files() == before


def test_without_corruptions_and_groups_there_is_nothing_to_do(
    fused: Path, counting_engine: CountingEngine, capsys: pytest.CaptureFixture[str]
) -> None:
    assert shift.fn(Study(overrides=("shift.corruptions=[]",), out="results/small")) == []
    assert counting_engine.calls == []
    assert "nothing to do" in capsys.readouterr().out


def test_a_cell_without_classifiers_fails_alone_and_says_the_way_out(
    fused: Path, counting_engine: CountingEngine
) -> None:
    cells = Study().resolve().cells
    shutil.rmtree(fused / ".vitgeom" / "store" / "fusion" / cells[0].dataset / cells[0].backbone)
    with pytest.raises(
        PartsFailed, match=r"shift: 1 of 2 failed.*\n.*no fused classifiers.*vitgeom stage fuse"
    ):
        shift.fn(Study())
    assert len(written(fused)) == 1


def test_sub_populations_are_evaluated_where_a_dataset_names_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, counting_engine: CountingEngine
) -> None:
    write_small(tmp_path, datasets=SCENES, backbones=RANDOM_VIT)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("VITGEOM_STORE", raising=False)
    study = Study(overrides=("shift.corruptions=[]",), out="results/small")
    extract.fn(study)
    fuse.fn(study)
    [outcome] = shift.fn(study)
    assert outcome.receipt is not None
    [content] = written(tmp_path)
    assert content["mean"] is None
    [condition] = content["conditions"]
    assert condition["batch_statistics"]["refused"].startswith("20 test images are fewer than the 64")
    assert sum(condition["groups"]["counts"].values()) == 20
    values = {row["name"]: row["accuracy"]["value"] for row in condition["rows"]}
    clean = {name: span["value"] for name, span in content["clean"]["accuracy"].items()}
    assert values == pytest.approx(clean)


def test_a_file_says_whose_figures_it_holds(fused: Path, counting_engine: CountingEngine) -> None:
    wanted = Study().resolve()
    results, cell = Results(wanted.out), wanted.cells[0]
    assert results.read_shift(cell) is None
    shift.fn(Study())
    found = results.read_shift(cell)
    assert found is not None
    assert found["comparison"] == results.fusion_digest(cell)
    results.shift(cell).write_bytes(b"torn")
    with pytest.raises(InvalidInput, match="is damaged"):
        results.read_shift(cell)


def test_parts_are_named_for_readers(fused: Path) -> None:
    wanted = Study().resolve()
    parts = shifted_parts(wanted.cells[0], wanted)
    said = [part.dataset_name.removeprefix(wanted.cells[0].dataset_name) for part in parts]
    assert said == [" under contrast 1", " under contrast 5", " as it is"]
    assert len({part.name for part in parts}) == len({part.path for part in parts}) == 3
    assert parts[-1].path == wanted.cells[0].path


def test_a_line_says_what_batch_statistics_change_or_that_there_are_none() -> None:
    def line(**detail: Any) -> str:
        return said(
            "a × b",
            Receipt(
                task="evaluate_shift", key="k", uri="u", digest="d", seconds=1, peak_bytes=1, cached=False,
                rows=1, detail={"conditions": 12, **detail},
            ),
        )  # fmt: skip

    both = line(accuracy={"vfusion": 0.592}, batch_statistics={"vfusion": 0.846})
    assert both == "shift a × b: 12 shifted test sets; VFusion 59.2%, 84.6% with batch statistics"
    few = line(accuracy={"vfusion": 0.592}, batch_statistics={})
    assert few.endswith("VFusion 59.2%, no batch statistics of so few images")
    assert line(accuracy={}, batch_statistics={}) == "shift a × b: 12 shifted test sets"
