"""Result files are written whole, only when they change, and refused with the way out when they are not there or damaged."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from flows.cell import Cell
from flows.results import Results, _write
from flows.study import Study
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
        match=f"Make it, with the same --profile: vitgeom stage extract --dataset {cell.dataset}",
    ):
        Results(tmp_path).read_features(cell)
    with pytest.raises(InvalidInput, match="Make it, with the same --profile: vitgeom stage probe"):
        Results(tmp_path).read_recoverability(cell)


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


def test_equal_content_leaves_a_file_untouched(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "file.json"
    _write(path, b"one")
    os.utime(path, ns=(1, 1))
    _write(path, b"one")
    assert path.stat().st_mtime_ns == 1

    _write(path, b"two")
    assert path.read_bytes() == b"two"
    assert os.listdir(path.parent) == ["file.json"]
