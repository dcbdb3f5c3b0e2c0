"""How many bytes a batch of probes needs, and how many problems fit.

n = rows, D = width, r = min(n, D), P = problems solved at once, K = classes.
"""

from __future__ import annotations

DEFAULT_BYTE_BUDGET = 1 << 30
CHUNK_BYTES = 1 << 26


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

    One problem is never split, so the least memory is
    ``bytes_per_layer + bytes_per_problem`` whatever the budget says.
    """
    spare = byte_budget - bytes_per_layer(num_rows=num_rows, width=width)
    return max(1, spare // bytes_per_problem(num_rows=num_rows, width=width, num_classes=num_classes))


def chunk_rows(*, width: int, columns: int) -> int:
    """Return how many rows to hold in float64 at a time: ``[rows, D]`` and three ``[rows, columns]`` arrays."""
    return max(1, CHUNK_BYTES // (8 * (width + 3 * columns)))
