"""Counts and sizes among the options of a dataset, and their bounds."""

from __future__ import annotations

from vitgeom.whole_numbers import whole_number

MOST_IMAGES = 100_000_000
"""Labels and groups of all rows are in memory: 16 bytes a row."""
MOST_CLASSES = 1_000_000
LARGEST_SIDE = 16_384
"""Pixels of a side of an image that is made here."""


def require_whole(name: str, value: object, *, at_least: int, at_most: int | None = None) -> int:
    """Return ``value`` if it is a whole number within its bounds.

    Args:
        name: The option, as the caller wrote it.
        value: What was given.
        at_least: The smallest legal value.
        at_most: The largest legal value; None for no bound.

    Raises:
        InvalidInput: It is no integer, too small or too large.
    """
    return whole_number(f"option {name!r}", value, at_least=at_least, at_most=at_most)
