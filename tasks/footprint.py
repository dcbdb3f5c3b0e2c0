"""How much memory this process has used at most."""

from __future__ import annotations

import resource
import sys
from pathlib import Path

STATUS = Path("/proc/self/status")


def peak_bytes() -> int:
    """Return the largest resident set size of this process so far, in bytes.

    Linux tells it in ``/proc``. ``getrusage``, asked elsewhere, is no substitute there: what it counts survives ``exec``, so a process
    started by a large one would have its parent's peak.
    """
    if STATUS.exists():
        [line] = [line for line in STATUS.read_text().splitlines() if line.startswith("VmHWM:")]
        return int(line.split()[1]) * 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
