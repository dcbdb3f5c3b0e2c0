"""The peak of this process, in bytes."""

from __future__ import annotations

import numpy as np

from tasks.footprint import peak_bytes


def test_the_peak_grows_with_what_is_touched_and_never_falls() -> None:
    before = peak_bytes()
    block = np.ones(before + 2**26, dtype=np.uint8)
    during = peak_bytes()
    del block
    assert during - before >= 2**26
    assert peak_bytes() >= during
