"""Memory maps that are read once from end to end must not stay resident."""

from __future__ import annotations

import mmap

import numpy as np


def release_pages(x: np.ndarray) -> None:
    """Tell the system that the pages of a memory-mapped array (or of a view of one) are not needed for now.

    Pages of a map count as resident once they were touched, although the file could give them back; reading them again
    costs a page fault. Nothing happens to an ordinary array, to one that is mapped copy-on-write (its changes live in
    those pages alone), or where the system has no such call.

    Args:
        x: Any array.
    """
    part: object = x
    while isinstance(part, np.ndarray):
        if isinstance(part, np.memmap) and part.mode == "c":
            return
        part = part.base
    if isinstance(part, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
        part.madvise(mmap.MADV_DONTNEED)
