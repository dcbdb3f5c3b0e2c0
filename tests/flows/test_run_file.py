"""The last file of a run: what it says, and that a disk that is full by then loses nothing else."""

from __future__ import annotations

import errno
import json
import os
import shutil
from pathlib import Path

import pytest

from flows import cli
from flows.run_file import RunFile
from flows.study import Study
from tasks.tracking import Tracked
from tests.flows.params_text import write_small
from vitgeom.errors import StoreError

# The tracker's import announces changes of its own dependencies.
pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::ResourceWarning"
)
TRACKED = Tracked(uri="sqlite:///mlflow.db", run_id="r1")


@pytest.fixture
def full_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """No room for ``run.json``; everything else is written as usual."""
    replace = os.replace

    def refuse(partial: Path, target: Path) -> None:
        if Path(target).name == "run.json":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(target))
        replace(partial, target)

    monkeypatch.setattr(os, "replace", refuse)


@pytest.fixture
def run_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunFile:
    write_small(tmp_path)
    monkeypatch.chdir(tmp_path)
    return RunFile(Study().resolve())


def test_it_says_how_the_run_went(run_file: RunFile, tmp_path: Path) -> None:
    run_file.write(tracked=TRACKED, steps={"extract": []})

    told = json.loads((tmp_path / "results" / "small" / "run.json").read_text())
    assert told["engine"]["kind"] == "serial"
    assert told["tracking"] == {"uri": TRACKED.uri, "run": "r1", "problem": None}
    assert told["steps"] == {"extract": {}}


@pytest.mark.usefixtures("full_disk")
def test_a_full_disk_is_told_with_the_file_the_way_out_and_what_is_safe(
    run_file: RunFile, tmp_path: Path
) -> None:
    before = tmp_path / "results" / "small" / "run.json"
    before.parent.mkdir(parents=True)
    before.write_text("{}")

    with pytest.raises(
        StoreError,
        match=r"run\.json' cannot be written: No space left on device\. .*--out FOLDER.* All other results of this run are complete",
    ):
        run_file.write(tracked=TRACKED, steps={})
    assert [path.read_text() for path in before.parent.iterdir()] == ["{}"]


@pytest.mark.usefixtures("full_disk")
def test_a_run_that_ends_on_a_full_disk_has_left_everything_else(
    finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(finished, tmp_path / "study")
    monkeypatch.chdir(tmp_path / "study")

    assert cli.main(["benchmark", "--out", "new"]) == 1

    told = capsys.readouterr()
    assert "error: result file 'new/run.json' cannot be written: No space left on device" in told.err
    assert "Traceback" not in told.err
    assert "recorded: run" in told.out
    assert {path.name for path in Path("new").iterdir()} >= {
        "report.html",
        "metrics.csv",
        "summary.json",
        "probes",
    }
    assert not (tmp_path / "study" / "new" / "run.json").exists()
