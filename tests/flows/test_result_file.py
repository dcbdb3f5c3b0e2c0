"""A result file is written whole, only when it changes, and a write that fails says what to do."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from flows.result_file import write_result
from vitgeom.errors import StoreError


def test_equal_content_leaves_a_file_untouched(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "file.json"
    write_result(path, b"one")
    os.utime(path, ns=(1, 1))
    write_result(path, b"one")
    assert path.stat().st_mtime_ns == 1

    write_result(path, b"two")
    assert path.read_bytes() == b"two"
    assert os.listdir(path.parent) == ["file.json"]


@pytest.mark.parametrize("number", [errno.EROFS, errno.ENOSPC, errno.EACCES])
def test_a_write_that_fails_is_told_with_the_file_and_the_way_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    path = tmp_path / "file.json"

    def refuse(partial: Path, target: Path) -> None:
        raise OSError(number, os.strerror(number), str(target))

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(
        StoreError, match=rf"file\.json' cannot be written: {os.strerror(number)}\. .*--out FOLDER"
    ):
        write_result(path, b"one")
    assert os.listdir(tmp_path) == [], "nothing half-written is left"


def test_a_file_where_a_folder_of_results_belongs_is_told(tmp_path: Path) -> None:
    (tmp_path / "probes").write_text("mine")

    with pytest.raises(StoreError, match=r"probes/digits/nano\.json' cannot be written: .*--out FOLDER"):
        write_result(tmp_path / "probes" / "digits" / "nano.json", b"one")
