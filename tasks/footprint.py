"""How much memory this process has used at most."""

from __future__ import annotations

import resource
import sys


def peak_bytes() -> int:
    """Return the largest resident set size of this process so far, in bytes (from ``getrusage``)."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
