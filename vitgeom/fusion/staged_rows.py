"""Arrays with a row per sample: in memory while they are small, in a temporary file otherwise.

What lies in memory is computed in one piece, exactly as if there were no files; what lies in a file is computed block by block.

n = rows, b = rows of a block, w = width.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator

import torch
from jaxtyping import Bool, Int64
from torch import Tensor

from vitgeom.probes.row_file import RowFile

SHARE = 8
"""One array may take this part of the byte budget; some of them exist at a time."""

BLOCK_BYTES = 1 << 24
"""Size of a block of rows in float64."""


def fits(num_rows: int, width: int, *, byte_budget: int, dtype: torch.dtype = torch.float32) -> bool:
    """Say whether an array ``[n, w]`` may be in memory."""
    return num_rows * width * dtype.itemsize <= byte_budget // SHARE


def staged(
    parts: Iterable[Tensor],
    *,
    num_rows: int,
    width: int,
    byte_budget: int,
    dtype: torch.dtype = torch.float32,
) -> Tensor | RowFile:
    """Return blocks ``[b, w]`` of consecutive rows as one array, in a file if it does not fit.

    Args:
        parts: The blocks, each asked for once the one before is stored.
        num_rows: n, of all blocks together.
        width: w.
        byte_budget: Memory to aim for.
        dtype: Of the array.

    Raises:
        ResourceShortage: The file cannot be written.
    """
    if not fits(num_rows, width, byte_budget=byte_budget, dtype=dtype):
        file = RowFile(width=width, dtype=dtype)
        for part in parts:
            file.append(part)
        return file
    out, start = torch.empty(num_rows, width, dtype=dtype), 0
    for part in parts:
        out[start : start + len(part)] = part
        start += len(part)
    return out


def spans(num_rows: int, width: int) -> Iterator[slice]:
    """Yield consecutive rows of about ``BLOCK_BYTES`` in float64."""
    step = max(1, BLOCK_BYTES // (8 * max(1, width)))
    for start in range(0, num_rows, step):
        yield slice(start, min(start + step, num_rows))


def blocks(rows: Tensor | RowFile) -> Iterator[tuple[slice, Tensor]]:
    """Yield all rows in order; those in memory are one block."""
    if isinstance(rows, Tensor):
        yield slice(0, len(rows)), rows
        return
    for where in spans(*rows.shape):
        yield where, rows[where]


def mapped(
    make: Callable[..., Tensor],
    *rows: Tensor | RowFile,
    width: int,
    byte_budget: int,
    dtype: torch.dtype = torch.float32,
) -> Tensor | RowFile:
    """Return a function of the same rows of several arrays, in a file if it does not fit.

    Args:
        make: Takes a block of each array and returns ``[b, w]``; a row of the result depends on that row alone.
        rows: Arrays of n rows; one in memory may have any number of axes.
        width: w.
        byte_budget: Memory to aim for.
        dtype: Of what ``make`` returns.

    Raises:
        ResourceShortage: The file cannot be written.
    """
    num_rows = len(rows[0])
    in_memory = all(isinstance(one, Tensor) for one in rows)
    if in_memory and fits(num_rows, width, byte_budget=byte_budget, dtype=dtype):
        return make(*rows)
    widest = width + sum(math.prod(one.shape[1:]) for one in rows)
    return staged(
        (make(*(one[where] for one in rows)) for where in spans(num_rows, widest)),
        num_rows=num_rows,
        width=width,
        byte_budget=byte_budget,
        dtype=dtype,
    )


def kept(rows: Tensor | RowFile, mask: Bool[Tensor, " n"]) -> Tensor | RowFile:
    """Return the rows of the mask, where the others lie; a file of which all rows are wanted is returned as it is.

    Args:
        rows: Any.
        mask: Which.

    Raises:
        ResourceShortage: The file cannot be written.
    """
    if isinstance(rows, Tensor):
        return rows[mask]
    if bool(mask.all()):
        return rows
    file = RowFile(width=rows.shape[1], dtype=rows.dtype)
    for where, block in blocks(rows):
        file.append(block[mask[where]])
    return file


def picked(rows: Tensor | RowFile, index: Int64[Tensor, "*b"]) -> Tensor:
    """Return rows by number ``[*b, w]``.

    Args:
        rows: Any.
        index: Row numbers in an array of any shape.
    """
    if isinstance(rows, Tensor):
        return rows[index]
    return rows.gather(index.flatten()).view(*index.shape, rows.shape[1])


def release(*rows: Tensor | RowFile) -> None:
    """Give back the disk space of those that lie in files; nothing can be read from them any more."""
    for one in rows:
        if isinstance(one, RowFile):
            one.close()
