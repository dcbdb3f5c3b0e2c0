"""What a caller gave as features, turned into finite tensors or refused.   n = rows, D = width."""

from __future__ import annotations

import numpy as np
import torch
from jaxtyping import Float, Int64
from torch import Tensor

from vitgeom.errors import InvalidInput


def float_tensor(x: np.ndarray, *, name: str) -> Tensor:
    """Return a contiguous copy of an array as a tensor; the array may be read-only, turned round or of foreign byte order.

    Args:
        x: Real numbers in floating point.
        name: Name of the argument, for the error message.

    Raises:
        InvalidInput: The array is of another kind, or wider than 64 bits.
    """
    if x.dtype.kind != "f" or x.dtype.itemsize > 8:
        raise InvalidInput(
            f"{name} must be floating point of at most 64 bits, got a numpy array of {x.dtype}; "
            "call .astype(numpy.float32) first."
        )
    return torch.from_numpy(np.array(x, dtype=x.dtype.newbyteorder("="), order="C"))


def layer_tensor(x: object, *, name: str, layer: int) -> Tensor:
    """Return what a source gave for one layer as a tensor that no gradient flows through.

    Args:
        x: A tensor or a numpy array.
        name: Name of the argument, for the error message.
        layer: Which layer it is.

    Raises:
        InvalidInput: It is neither, an array without real numbers, or a tensor that is not dense.
    """
    if isinstance(x, np.ndarray):
        return float_tensor(x, name=f"{name} at layer {layer}")
    if not isinstance(x, Tensor):
        raise InvalidInput(
            f"{name} at layer {layer} must be a tensor or a numpy array [n, D], got {type(x).__name__}; "
            "return torch.as_tensor(...) from the function that reads it."
        )
    refuse_without_values(x, name=f"{name} at layer {layer}")
    return x.detach() if x.requires_grad else x


def refuse_without_values(x: Tensor, *, name: str) -> None:
    """Raise if a tensor has no values in rows and columns to read.

    Args:
        x: What a caller gave.
        name: Name of the argument, for the error message.

    Raises:
        InvalidInput: It is sparse, or has a shape only.
    """
    if x.layout != torch.strided or x.is_meta:
        kind = "a meta tensor without values" if x.is_meta else f"a tensor of layout {x.layout}"
        raise InvalidInput(
            f"{name} must be a dense tensor, got {kind}; call .to_dense() or load the values first."
        )


def refuse_non_finite(
    x: Float[Tensor, "n D"],
    *,
    name: str,
    layer: int | None,
    first_row: int | None = None,
    numbers: Int64[Tensor, " n"] | None = None,
) -> None:
    """Raise if any value is NaN or infinite, naming the first such row.

    Args:
        x: Features of one layer.
        name: Name of the argument, for the error message.
        layer: Which layer they are of, None where there is only one.
        first_row: Number of the first row where x is only a block of rows; None where x is everything.
        numbers: Number of each row where x is a choice of rows that need not follow each other.

    Raises:
        InvalidInput: A value is not finite.
    """
    if bool(torch.isfinite(x.sum(dtype=torch.float64))):
        return
    bad = (~torch.isfinite(x)).any(dim=1).nonzero()[:, 0]
    if len(bad) == 0:  # the sum overflowed although every value is finite
        return
    at_least = "" if first_row is None and numbers is None else "at least "
    first = (first_row or 0) + int(bad[0]) if numbers is None else int(numbers[bad[0].cpu()])
    where = "" if layer is None else f" at layer {layer}"
    raise InvalidInput(
        f"{name} must be finite, got NaN or infinite values in {at_least}{len(bad)} row(s){where}, first in row {first}; "
        "recompute those features in float32, or leave the rows out."
    )
