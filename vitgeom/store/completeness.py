"""Telling which rows of a store were never committed."""

from __future__ import annotations

from collections.abc import Sequence

from vitgeom.errors import IncompleteData

_SHOWN_RANGES = 6


def incomplete(uri: str, missing: Sequence[tuple[str, int, int]]) -> IncompleteData:
    """Return the error that lists missing ranges.

    Args:
        uri: Of the store.
        missing: (split, start, stop) ranges without a valid done-marker.
    """
    shown = ", ".join(f"{split} {start}:{stop}" for split, start, stop in missing[:_SHOWN_RANGES])
    more = f" and {len(missing) - _SHOWN_RANGES} more ranges" if len(missing) > _SHOWN_RANGES else ""
    rows = sum(stop - start for _, start, stop in missing)
    return IncompleteData(
        f"{uri} is incomplete: {rows} rows have no valid done-marker ({shown}{more}). Run the extraction again: it computes only"
        " these.",
        missing=missing,
    )
