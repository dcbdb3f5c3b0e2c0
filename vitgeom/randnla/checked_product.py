"""Products with an operator, in a dtype that dense algebra can work with, and never without a look at the result.

M = rows, N = columns, K = vectors.
"""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from vitgeom.errors import NumericalFailure
from vitgeom.linop import LinearOperator


def working_dtype(operator: LinearOperator) -> torch.dtype:
    """Return float64 for a float64 operator, float32 for all others: half precision has no QR.

    Args:
        operator: Any.
    """
    return torch.float64 if operator.dtype == torch.float64 else torch.float32


def jvp(operator: LinearOperator, v_NK: Float[Tensor, "n k"]) -> Float[Tensor, "m k"]:
    """Return J V in the working dtype; K products.

    Args:
        operator: J [M, N].
        v_NK: In any floating dtype, on any device.

    Raises:
        NumericalFailure: A product is not finite.
    """
    found = operator.matmat(v_NK.to(operator.device, operator.dtype))
    return _finite(found, operator, name="J v (matmat)")


def vjp(operator: LinearOperator, u_MK: Float[Tensor, "m k"]) -> Float[Tensor, "n k"]:
    """Return J^T U in the working dtype; K products.

    Args:
        operator: J [M, N].
        u_MK: In any floating dtype, on any device.

    Raises:
        NumericalFailure: A product is not finite.
    """
    found = operator.rmatmat(u_MK.to(operator.device, operator.dtype))
    return _finite(found, operator, name="J^T u (rmatmat)")


def _finite(found: Tensor, operator: LinearOperator, *, name: str) -> Tensor:
    bad = ~found.isfinite()
    if bool(bad.any()):
        row, column = bad.nonzero()[0].tolist()
        raise NumericalFailure(
            f"product {name} of {type(operator).__name__} {list(operator.shape)} is not finite: entry {row} of vector {column} is "
            f"{float(found[row, column])}. Check the decoder on this input in float64; a norm at a zero vector or an overflow in half "
            "precision is the usual cause."
        )
    return found.to(working_dtype(operator))
