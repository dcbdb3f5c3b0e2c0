"""How many bytes a batch of probes needs, and how many problems fit.

n = rows, D = width, r = min(n, D), P = problems solved at once, K = classes.
"""

from __future__ import annotations

DEFAULT_BYTE_BUDGET = 1 << 30
"""For features that are in memory anyway."""

STREAM_BYTE_BUDGET = 1 << 28
"""For features that are read from elsewhere: a larger layer is solved from a file, in memory that does not grow with n."""

CHUNK_BYTES = 1 << 26
STREAM_CHUNK_BYTES = 1 << 24
SMALLEST_CHUNK_BYTES = 1 << 20


def bytes_per_problem(*, num_rows: int, width: int, num_classes: int) -> int:
    """Return what one more problem in the batch costs.

    Up to six float32 arrays are ``[n, K]`` (probabilities before and after a step, temporaries of a Hessian product or of
    the preconditioner); about ten float64 and ten float32 blocks are ``[r + 1, K]``.
    """
    rank = min(num_rows, width) + 1
    return 24 * num_rows * num_classes + 120 * rank * num_classes + 40 * num_classes**2


def bytes_per_layer(*, num_rows: int, width: int, itemsize: int = 4) -> int:
    """Return what a layer costs however few problems are solved at once.

    The features as given, their float32 copy in the eigenbasis, one float64 chunk of rows, and the eigenproblem. With
    n < D the QR works on a float64 copy instead of a chunk.
    """
    rank = min(num_rows, width)
    square = 8 * num_rows * width * 3 if num_rows < width else 8 * width**2 * 4
    return num_rows * width * itemsize + 4 * num_rows * (rank + 1) + 2 * CHUNK_BYTES + square


def problems_at_once(*, num_rows: int, width: int, num_classes: int, byte_budget: int) -> int:
    """Return how many problems of a layer to solve together: as many as fit the budget, at least one.

    One problem is never split. Where not even one fits (:func:`fits_in_memory`), the layer is streamed and
    :func:`streamed_problems_at_once` counts.
    """
    spare = byte_budget - bytes_per_layer(num_rows=num_rows, width=width)
    return max(1, spare // bytes_per_problem(num_rows=num_rows, width=width, num_classes=num_classes))


def chunk_rows(*, width: int, columns: int, chunk_bytes: int = CHUNK_BYTES) -> int:
    """Return how many rows to hold in float64 at a time: ``[rows, D]`` and three ``[rows, columns]`` arrays."""
    return max(1, chunk_bytes // (8 * (width + 3 * columns)))


def fits_in_memory(*, num_rows: int, width: int, num_classes: int, byte_budget: int) -> bool:
    """Say whether a layer and one problem fit the budget; if not, features and probabilities are not kept."""
    fixed = bytes_per_layer(num_rows=num_rows, width=width)
    return fixed + bytes_per_problem(num_rows=num_rows, width=width, num_classes=num_classes) <= byte_budget


def stream_chunk_bytes(byte_budget: int) -> int:
    """Return the bytes of one block of rows when a layer is streamed: an eighth of the budget within 1 and 16 MiB."""
    return min(STREAM_CHUNK_BYTES, max(SMALLEST_CHUNK_BYTES, byte_budget // 8))


def streamed_problems_at_once(*, num_rows: int, width: int, num_classes: int, byte_budget: int) -> int:
    """Return how many problems of a streamed layer to solve together: as many as fit the budget, at least one.

    What a problem costs then has no n in it: some twenty blocks ``[r + 1, K]``. Fixed are the eigenproblem, three blocks
    of rows, and per row a label and a weight of 8 bytes each.
    """
    fixed = 32 * width**2 + 3 * stream_chunk_bytes(byte_budget) + 16 * num_rows
    rank = min(num_rows, width) + 1
    return max(1, (byte_budget - fixed) // (160 * rank * num_classes + 40 * num_classes**2))
