"""The peak of this process, in bytes."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np

from tasks.footprint import peak_bytes
from tests.support.checkout import ROOT


def test_the_peak_grows_with_what_is_touched_and_never_falls() -> None:
    before = peak_bytes()
    block = np.ones(before + 2**26, dtype=np.uint8)
    during = peak_bytes()
    del block
    assert during - before >= 2**26
    assert peak_bytes() >= during - 2**20, "the kernel sums its counters to within some pages per core"


def test_the_peak_of_the_process_that_started_this_one_does_not_count() -> None:
    parent = (
        "import subprocess, sys; block = b'x' * 2**30; "
        "subprocess.run([sys.executable, '-c', 'from tasks.footprint import peak_bytes; print(peak_bytes())'], check=True)"
    )
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    peak = subprocess.check_output([sys.executable, "-c", parent], env=environment, text=True)
    assert int(peak) < 2**28
