"""Result files are refused with the way out when they are not there or damaged, and a folder that cannot be written at once."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from flows.cell import Cell
from flows.extract import extract
from flows.results import Results
from flows.study import Study
from tests.flows.params_text import RANDOM_VIT, write_small
from vitgeom.errors import CorruptData, InvalidInput


@pytest.fixture
def cell(finished: Path, monkeypatch: pytest.MonkeyPatch) -> Cell:
    monkeypatch.chdir(finished)
    [cell] = Study().resolve().cells
    return cell


def test_the_manifest_says_what_the_dataset_is(finished: Path, cell: Cell) -> None:
    manifest, about = Results(finished / "results" / "small").read_features(cell)

    assert manifest.num_rows == 60
    assert about["label"] == cell.dataset
    assert about["classes"] == ["0", "1", "2"]
    assert about["quarantine"] == []


def test_a_missing_result_names_the_command_that_makes_it(tmp_path: Path, cell: Cell) -> None:
    with pytest.raises(
        InvalidInput,
        match=f"Make it, with the same --profile and --set: vitgeom stage extract --dataset {cell.dataset}",
    ):
        Results(tmp_path).read_features(cell)
    with pytest.raises(
        InvalidInput, match="Make it, with the same --profile and --set: vitgeom stage probe"
    ) as told:
        Results(tmp_path).read_recoverability(cell)
    # A stage has no folder of its own for a part of a profile, so the way out names it.
    assert str(told.value).endswith(f" --out {tmp_path}")


def test_a_damaged_manifest_is_refused(finished: Path, tmp_path: Path, cell: Cell) -> None:
    good = json.loads(Results(finished / "results" / "small").features(cell).read_text())
    place = Results(tmp_path).features(cell)
    place.parent.mkdir(parents=True)
    place.write_text(json.dumps({**good, "rows": 61}))
    with pytest.raises(CorruptData, match="does not match its digest"):
        Results(tmp_path).read_features(cell)

    place.write_text("{")
    with pytest.raises(InvalidInput, match=r"is damaged .* run stage extract again"):
        Results(tmp_path).read_features(cell)


def test_a_results_folder_that_cannot_be_made_is_refused_at_once(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")

    for folder in (tmp_path / "file", tmp_path / "file" / "deep" / "results"):
        with pytest.raises(InvalidInput, match=r"cannot be written: .*file' is not a folder.* --out FOLDER"):
            Results(folder)
    Results(tmp_path / "not" / "yet")
    assert os.listdir(tmp_path) == ["file"], "looking creates nothing"


def test_a_read_only_results_folder_is_refused_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != tmp_path)

    for folder in (tmp_path, tmp_path / "not" / "yet"):
        with pytest.raises(
            InvalidInput, match=rf"{tmp_path.name}' is read-only for this user.* --out FOLDER"
        ):
            Results(folder)


def test_a_study_that_cannot_leave_its_results_computes_nothing(tmp_path: Path) -> None:
    write_small(tmp_path, backbones=RANDOM_VIT)
    (tmp_path / "file").write_text("mine")

    with pytest.raises(InvalidInput, match="--out FOLDER"):
        extract.fn(Study(store=str(tmp_path / "store"), out="file/results"))
    assert not (tmp_path / "store").exists()


def test_a_dataset_without_several_backbones_says_so_and_a_missing_table_names_its_command(
    tmp_path: Path,
) -> None:
    results = Results(tmp_path)
    with pytest.raises(InvalidInput, match="vitgeom stage horizontal --dataset digits"):
        results.read_horizontal("digits")
    results.skip_horizontal("digits")
    assert results.read_horizontal("digits") is None


def test_a_missing_comparison_names_its_command(tmp_path: Path, cell: Cell) -> None:
    with pytest.raises(InvalidInput, match="Make it, with the same --profile and --set: vitgeom stage fuse"):
        Results(tmp_path).read_fusion(cell)
