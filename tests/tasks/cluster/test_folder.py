"""The folder of a private Ray: short, ours alone, and gone with its driver."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tasks.cluster.folder import LONGEST_BASE, RayFolder
from tests.support.checkout import ROOT


@pytest.fixture
def base() -> Iterator[Path]:
    """A place with a short path."""
    with tempfile.TemporaryDirectory(prefix="vt-", dir="/tmp") as folder:
        yield Path(folder)


def test_it_is_short_and_ours_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    long = tmp_path / ("x" * LONGEST_BASE)
    long.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(long))
    folder = RayFolder()
    assert len(str(folder.path)) <= LONGEST_BASE
    assert folder.path.stat().st_mode & 0o777 == 0o700
    folder.remove()
    assert not folder.path.exists()


def test_what_a_killed_driver_left_is_removed_by_the_next(base: Path) -> None:
    code = "import sys, time; from pathlib import Path; from tasks.cluster.folder import RayFolder; "
    code += "print(RayFolder(Path(sys.argv[1])).path, flush=True); time.sleep(60)"
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        [sys.executable, "-c", code, str(base)], env=environment, stdout=subprocess.PIPE, text=True
    ) as driver:
        assert driver.stdout is not None
        left = Path(driver.stdout.readline().strip())
        (left / "session").mkdir()

        beside = RayFolder(base)
        assert left.is_dir(), "a driver that lives keeps its folder"
        beside.remove()

        driver.send_signal(signal.SIGKILL)
        driver.wait()
    RayFolder(base).remove()
    assert list(base.iterdir()) == []


def test_a_folder_that_is_kept_stays(base: Path) -> None:
    kept = RayFolder(base)
    (kept.path / "logs").write_text("a worker died")
    kept.keep()
    RayFolder(base).remove()
    assert [path.name for path in kept.path.iterdir()] == ["logs"]
