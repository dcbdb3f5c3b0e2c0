"""The forecast says what is stored and what is missing, and leaves the store alone."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from flows import cli
from flows.forecast import forecast
from flows.study import Study


def files(folder: Path) -> set[Path]:
    return {path for path in folder.rglob("*") if path.is_file()}


def test_a_finished_study_has_nothing_left_to_do(finished: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(finished)
    wanted = Study().resolve()
    before = files(finished)
    told = forecast(wanted.cells[0], wanted)

    assert (told.ranges_missing, told.images_missing, told.probes_stored) == (0, 0, True)
    assert (told.methods, told.fusion_stored) == (3, True)
    assert files(finished) == before


def test_an_empty_store_is_reported_as_empty_and_stays_empty(
    finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(finished)
    wanted = Study(store=str(tmp_path / "store")).resolve()
    told = forecast(wanted.cells[0], wanted)

    assert told.images_missing == 60
    assert told.ranges_missing == told.ranges > 0
    assert "60 images to compute; probes to fit; fusion by 3 methods to fit" in told.line()
    assert not (tmp_path / "store").exists()


def test_a_missing_range_is_counted(finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(finished / ".vitgeom" / "store", tmp_path / "store")
    [marker, *_] = sorted((tmp_path / "store").glob("features/*/*/*/done/train/*.json"))
    marker.unlink()
    monkeypatch.chdir(finished)
    wanted = Study(store=str(tmp_path / "store")).resolve()

    assert forecast(wanted.cells[0], wanted).images_missing == 16


def test_the_command_prints_one_line_per_cell(
    finished: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(finished)

    assert cli.main(["plan"]) == 0
    assert "ranges stored; probes stored; fusion by 3 methods stored" in capsys.readouterr().out


def test_several_backbones_have_a_line_of_their_own(
    finished: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(finished)
    backbones = [
        argument for name in ("nano_supervised", "nano_selfsup") for argument in ("--backbone", name)
    ]

    assert cli.main(["plan", *backbones]) == 0
    assert " × nano_supervised + nano_selfsup: horizontal fusion to fit" in capsys.readouterr().out
