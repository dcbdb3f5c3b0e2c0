"""The one check that counts and sizes from outside pass through."""

from __future__ import annotations

from vitgeom.errors import InvalidInput

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
    if isinstance(value, bool) or not isinstance(value, int) or value < at_least:
        raise InvalidInput(f"option {name!r} must be a whole number >= {at_least}, got {value!r}.")
    if at_most is not None and value > at_most:
        raise InvalidInput(
            f"option {name!r} must be at most {at_most:,}, got {value:,}. Give a smaller number."
        )
    return value
