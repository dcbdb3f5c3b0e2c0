"""How rows are cut: chunk-aligned ranges of the store, and batches inside a range. Pure arithmetic.

A range is the unit of work and of resumption: one task computes it, one chunk per layer holds it. Batches are counted
from the start of their range, so neither the number of workers nor their order changes what is computed together.
"""

from __future__ import annotations

from collections.abc import Iterator

from vitgeom.errors import InvalidInput

TARGET_CHUNK_BYTES = 6 * 2**20
"""Bytes of one chunk (rows, 1, D): large enough for object stores, small enough to read one layer cheaply."""

MIN_RANGES = 8
"""A data set is cut into at least so many ranges where that is possible, so that several workers have work."""

MIN_ROWS = 64
"""Below this a range costs more in overhead than it brings."""


def rows_per_range(
    num_rows: int, *, width: int, itemsize: int, target_bytes: int = TARGET_CHUNK_BYTES
) -> int:
    """Return the rows per range for a data set.

    Args:
        num_rows: Rows of the largest split.
        width: D, numbers per row and layer.
        itemsize: Bytes per stored number.
        target_bytes: Wanted size of one chunk.

    Returns:
        A multiple of 64, at least 64: about ``target_bytes`` per chunk, fewer rows if that would leave fewer than
        ``MIN_RANGES`` ranges.

    Raises:
        InvalidInput: An argument is not positive.
    """
    for name, value in (
        ("num_rows", num_rows),
        ("width", width),
        ("itemsize", itemsize),
        ("target_bytes", target_bytes),
    ):
        if value < 1:
            raise InvalidInput(f"{name} must be >= 1, got {value}.")
    by_bytes = target_bytes // (width * itemsize)
    by_count = -(-num_rows // MIN_RANGES)
    wanted = min(by_bytes, by_count)
    return max(MIN_ROWS, wanted // MIN_ROWS * MIN_ROWS)


def batches(start: int, stop: int, *, size: int) -> Iterator[tuple[int, int]]:
    """Yield half-open batches of rows, counted from ``start``; the last one may be short.

    Args:
        start: First row.
        stop: One past the last row.
        size: Rows per batch.

    Raises:
        InvalidInput: ``size`` < 1.
    """
    if size < 1:
        raise InvalidInput(f"size must be >= 1 row per batch, got {size}.")
    for first in range(start, stop, size):
        yield first, min(first + size, stop)
