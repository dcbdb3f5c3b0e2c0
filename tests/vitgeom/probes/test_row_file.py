from __future__ import annotations

import gc
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
import torch

from vitgeom.errors import ResourceShortage
from vitgeom.probes.row_file import RowFile

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_rows_come_back_as_they_were_written(dtype):
    x = torch.randn(11, 3, generator=torch.Generator().manual_seed(0)).to(dtype)
    with RowFile(width=3, dtype=dtype) as file:
        for block in x.split(4):
            file.append(block)
        assert (len(file), file.shape) == (11, (11, 3))
        for rows in (slice(0, 4), slice(3, 9), slice(10, 20), slice(5, 5), slice(None)):
            assert torch.equal(file[rows], x[rows])
        assert torch.equal(torch.cat(list(file.split(5))), x)


def test_a_turned_block_of_another_precision_is_written_in_the_file_s():
    x = torch.arange(6.0, dtype=torch.float64).view(2, 3)
    with RowFile(width=2, dtype=torch.float32) as file:
        file.append(x.T)
        assert torch.equal(file[:], x.T.float())


def test_rows_by_number_come_in_the_order_asked_for():
    x = torch.arange(24.0).view(8, 3)
    with RowFile(width=3, dtype=torch.float32) as file:
        file.append(x)
        for index in ([7, 0, 3, 3], [2], []):
            numbers = torch.tensor(index, dtype=torch.int64)
            assert torch.equal(file.gather(numbers), x[numbers])
        with pytest.raises(AssertionError, match=r"rows must lie in 0\.\.7"):
            file.gather(torch.tensor([8]))


def open_files() -> set[str]:
    """Return what the open file descriptors of this process point at, as far as vitgeom's rows go."""
    found = set()
    for number in os.listdir("/proc/self/fd"):
        try:
            found.add(os.readlink(f"/proc/self/fd/{number}"))
        except OSError:
            continue
    return {name for name in found if tempfile.gettempdir() in name}


def test_nothing_is_left_when_closed_or_forgotten(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    file = RowFile(width=2, dtype=torch.float32)
    file.append(torch.ones(3, 2))
    assert len(open_files()) == 1
    assert list(tmp_path.iterdir()) == []  # it has no name even while it is in use
    file.close()
    assert not open_files()
    forgotten = RowFile(width=2, dtype=torch.float32)
    assert len(open_files()) == 1
    del forgotten
    gc.collect()
    assert not open_files()


def test_a_killed_process_leaves_no_file(tmp_path):
    code = """
import os, signal, torch
from vitgeom.probes.row_file import RowFile
file = RowFile(width=1000, dtype=torch.float32)
file.append(torch.ones(1000, 1000))
os.kill(os.getpid(), signal.SIGKILL)
"""
    env = {**os.environ, "TMPDIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=env, check=False)
    assert done.returncode == -9
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_told_with_the_way_out():
    """The system refuses to let the file grow, as it does when a disk is full."""
    code = """
import resource, signal, torch
from vitgeom.errors import ResourceShortage
from vitgeom.probes.row_file import RowFile
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))
try:
    RowFile(width=100, dtype=torch.float32).append(torch.ones(100, 100))
except ResourceShortage as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert "could not be put into a temporary file in" in done.stdout
    assert "40000 more were to follow" in done.stdout
    assert "TMPDIR" in done.stdout
    assert "raise byte_budget" in done.stdout


def test_no_place_for_temporary_files_is_told(monkeypatch):
    def refuse(**_):
        raise PermissionError("read-only file system")

    monkeypatch.setattr(tempfile, "TemporaryFile", refuse)
    with pytest.raises(ResourceShortage, match=r"temporary file in .*read-only file system.*TMPDIR"):
        RowFile(width=2, dtype=torch.float32)
