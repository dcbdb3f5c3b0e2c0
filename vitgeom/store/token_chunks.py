"""How many images share one chunk of all tokens: part of what every reader expects of the disk. Pure arithmetic."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

TARGET_BYTES = 6 * 2**20
"""Bytes of one chunk (rows, 1, N, D). A change alters the bytes of a store: it needs another ``SCHEMA_VERSION``."""


def rows_per_chunk(rows_per_range: int, *, row_bytes: int) -> int:
    """Return the rows of one chunk: the divisor of a range whose chunk is nearest to ``TARGET_BYTES``, by ratio.

    A divisor, because then no chunk reaches into two ranges and each still has one writer. Where 2 divides the range often enough, a chunk
    is between 0.7 and 1.5 times the target (4.2 to 8.9 MB); one image that alone is larger makes a chunk of its own.

    Args:
        rows_per_range: Rows of one unit of work.
        row_bytes: Bytes of all tokens of one layer of one image.
    """
    return _nearest_divisor(rows_per_range, row_bytes, TARGET_BYTES)


@lru_cache(maxsize=256)
def _nearest_divisor(rows: int, row_bytes: int, target: int) -> int:
    divisors = (count for count in range(1, rows + 1) if rows % count == 0)
    return min(divisors, key=lambda count: _ratio(count * row_bytes, target))


def _ratio(size: int, target: int) -> Fraction:
    """Return how many times the larger is the smaller; exact, so that every machine chooses alike."""
    return Fraction(max(size, target), min(size, target))
