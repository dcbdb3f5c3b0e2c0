"""Which images of a split are diagnosed: a few, spread evenly, the same in every run. Pure arithmetic."""

from __future__ import annotations

from vitgeom.errors import InvalidInput


def spread_images(num_rows: int, *, count: int) -> tuple[int, ...]:
    """Return rows in the middle of ``count`` equal parts of a split; all of them where it has no more.

    Splits that list class after class are met in all their classes.

    Args:
        num_rows: Images of the split.
        count: Wanted.

    Raises:
        InvalidInput: The split is empty, or nothing is wanted.
    """
    if num_rows < 1 or count < 1:
        raise InvalidInput(f"num_rows and count must be >= 1, got {num_rows} and {count}.")
    count = min(count, num_rows)
    return tuple((2 * place + 1) * num_rows // (2 * count) for place in range(count))
