from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from vitgeom.probes.mapped_pages import release_pages


def resident_after_reading(file: Path, *, release: bool) -> int:
    """Return by how many bytes a fresh process grew when it read a mapped array block by block."""
    code = f"""
import numpy as np
from vitgeom.probes.mapped_pages import release_pages
def resident():
    return 1024 * int(next(line for line in open("/proc/self/status") if line.startswith("VmRSS")).split()[1])
x = np.load({str(file)!r}, mmap_mode="r")
x[:10].sum()
before = resident()
for start in range(0, len(x), 1000):
    x[start : start + 1000].sum()
    if {release}:
        release_pages(x[start:])
print(resident() - before)
"""
    root = Path(__file__).parents[3]
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    return int(done.stdout)


def test_pages_that_were_read_are_given_back(tmp_path):
    np.save(tmp_path / "x.npy", np.ones((64_000, 128), dtype=np.float32))  # 32 MiB
    assert resident_after_reading(tmp_path / "x.npy", release=False) > 24 << 20
    assert resident_after_reading(tmp_path / "x.npy", release=True) < 8 << 20


@pytest.mark.parametrize("mode", ["r", "r+", "c"])
def test_values_stay_what_they_were(tmp_path, mode):
    np.save(tmp_path / "x.npy", np.arange(6.0))
    x = np.load(tmp_path / "x.npy", mmap_mode=mode)
    if mode != "r":
        x[2] = 20.0
    wanted = np.array(x)
    release_pages(x)
    release_pages(np.asarray(x)[1:])
    np.testing.assert_array_equal(x, wanted)


def test_an_ordinary_array_is_left_alone():
    x = np.arange(6.0).reshape(2, 3)
    release_pages(x[1:])
    np.testing.assert_array_equal(x, [[0, 1, 2], [3, 4, 5]])
