"""Which rows a reader wants: a slice or row numbers, as checked row numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from vitgeom.errors import InvalidInput


def selected_rows(rows: slice | Sequence[int] | np.ndarray | None, *, total: int, split: str) -> np.ndarray:
    """Return row numbers, int64 [m], in the order wanted.

    Args:
        rows: None for all, a slice as Python understands it, or row numbers 0..total-1 (repetitions allowed).
        total: Rows of the split.
        split: For the message.

    Raises:
        InvalidInput: A row number is not whole or out of range.
    """
    if rows is None:
        return np.arange(total, dtype=np.int64)
    if isinstance(rows, slice):
        return np.arange(total, dtype=np.int64)[rows]
    chosen = np.asarray(rows)
    if chosen.size == 0:
        return np.zeros(0, dtype=np.int64)
    if chosen.ndim != 1 or chosen.dtype.kind not in "iu":
        raise InvalidInput(
            f"rows must be a slice or a list of whole numbers, got dtype {chosen.dtype} with shape {chosen.shape}."
        )
    bad = chosen[(chosen < 0) | (chosen >= total)]
    if bad.size:
        raise InvalidInput(f"row {int(bad[0])} does not exist in split {split!r}: rows are 0..{total - 1}.")
    return chosen.astype(np.int64)
