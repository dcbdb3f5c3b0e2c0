from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from vitgeom.store.local_files import ABANDONED_AFTER_SECONDS, LocalFiles
from vitgeom.store.objects import Objects
from vitgeom.store.owner import Owner

CHECKOUT = Path(__file__).parents[3]


def test_local_files_are_objects(tmp_path: Path) -> None:
    assert isinstance(LocalFiles(tmp_path), Objects)


def test_a_failed_write_leaves_the_old_file_and_no_partial(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = LocalFiles(tmp_path)
    files.put("a", b"old")

    def refuse(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(OSError, match="No space left"):
        files.put("a", b"new")
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
    assert files.get("a") == b"old"


@pytest.mark.parametrize("exclusive", [False, True])
def test_data_reach_the_disk_before_the_name_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, exclusive: bool
) -> None:
    seen = []

    def record(descriptor: int) -> None:
        seen.append(((tmp_path / "a").exists(), os.fstat(descriptor).st_size))

    monkeypatch.setattr(os, "fsync", record)
    LocalFiles(tmp_path).put("a", b"12345", exclusive=exclusive)
    assert seen == [(False, 5)]


def test_exclusive_writes_succeed_once(tmp_path: Path) -> None:
    files = LocalFiles(tmp_path)
    files.put("a/b", b"first", exclusive=True)
    with pytest.raises(FileExistsError):
        files.put("a/b", b"second", exclusive=True)
    assert files.get("a/b") == b"first"
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["b"]


def test_exclusive_writes_do_without_hard_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(source: Path, target: Path) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    test_exclusive_writes_succeed_once(tmp_path)


WRITER = """
import os, sys
from pathlib import Path
from vitgeom.store.local_files import LocalFiles
os.fsync = lambda descriptor: (print("writing", flush=True), os.read(0, 1))
LocalFiles(Path(sys.argv[1])).put("deep/file", b"x" * 1000)
"""


def test_what_a_killed_writer_left_is_swept_and_a_living_writer_is_left_alone(tmp_path: Path) -> None:
    files = LocalFiles(tmp_path)
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(tmp_path)],
        cwd=CHECKOUT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert writer.stdout is not None
    assert writer.stdin is not None
    assert writer.stdout.readline() == b"writing\n"
    partials = list((tmp_path / "deep").iterdir())
    assert [path.suffix for path in partials] == [".partial"]
    assert files.children("deep") == []
    assert files.sweep("") == []
    assert partials[0].exists()

    writer.send_signal(signal.SIGKILL)
    writer.wait()
    writer.stdin.close()
    writer.stdout.close()
    assert files.sweep("") == [f"deep/{partials[0].name}"]
    assert not partials[0].exists()


def test_partials_of_other_machines_are_swept_when_old(tmp_path: Path) -> None:
    files = LocalFiles(tmp_path)
    young, old, nameless = (
        tmp_path / name
        for name in (".0123456789ab-1-1-0.partial", ".0123456789ab-2-1-0.partial", "x.partial")
    )
    for path in (young, old, nameless):
        path.write_bytes(b"")
    long_ago = time.time() - ABANDONED_AFTER_SECONDS - 10
    os.utime(old, (long_ago, long_ago))
    own = tmp_path / f".{Owner.current().label}-7.partial"
    own.write_bytes(b"")
    os.utime(own, (long_ago, long_ago))
    assert files.sweep("") == [old.name]
    assert {path.name for path in tmp_path.iterdir()} == {young.name, nameless.name, own.name}


def test_a_path_through_a_file_holds_nothing(tmp_path: Path) -> None:
    files = LocalFiles(tmp_path)
    files.put("a", b"1")
    assert files.get("a/b") is None
    assert not files.exists("a/b")
    assert files.children("a") == files.children("a/b") == []
    files.remove("a/b")
    assert files.get("a") == b"1"
