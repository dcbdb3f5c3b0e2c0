"""An operator times a number.   M = rows, N = columns, K = vectors."""

from __future__ import annotations

import math

import torch
from jaxtyping import Float
from torch import Tensor

from vitgeom.errors import InvalidInput
from vitgeom.linop.agreement import check_operator


class ScaledOperator:
    """c A, at the price of A.

    Args:
        operator: A, M x N.
        factor: c, a finite real number.

    Raises:
        InvalidInput: ``operator`` is none, or ``factor`` no finite number.
    """

    def __init__(self, operator: object, *, factor: object) -> None:
        self._operator = check_operator(operator, name="operator")
        if isinstance(factor, bool) or not isinstance(factor, int | float) or not _is_finite(factor):
            raise InvalidInput(
                f"factor={factor!r} must be a finite number. For a factor per row use DiagonalOperator."
            )
        self._factor = float(factor)

    @property
    def shape(self) -> tuple[int, int]:
        """(M, N)."""
        return self._operator.shape

    @property
    def dtype(self) -> torch.dtype:
        """Of the operator."""
        return self._operator.dtype

    @property
    def device(self) -> torch.device:
        """Of the operator."""
        return self._operator.device

    def matmat(self, v_NK: Float[Tensor, "n k"]) -> Float[Tensor, "m k"]:
        """Return c A V."""
        return self._factor * self._operator.matmat(v_NK)

    def rmatmat(self, u_MK: Float[Tensor, "m k"]) -> Float[Tensor, "n k"]:
        """Return c A^T U."""
        return self._factor * self._operator.rmatmat(u_MK)


def _is_finite(factor: int | float) -> bool:
    try:
        return math.isfinite(factor)
    except OverflowError:  # a whole number beyond what a float holds
        return False
