"""The transpose of an operator.   M = its rows, N = its columns, K = vectors."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from vitgeom.linop.agreement import check_operator


class AdjointOperator:
    """A^T: both sides exchanged.

    Args:
        operator: A, M x N.

    Raises:
        InvalidInput: It is no operator.
    """

    def __init__(self, operator: object) -> None:
        self._operator = check_operator(operator, name="operator")

    @property
    def shape(self) -> tuple[int, int]:
        """(N, M)."""
        rows, columns = self._operator.shape
        return columns, rows

    @property
    def dtype(self) -> torch.dtype:
        """Of the operator."""
        return self._operator.dtype

    @property
    def device(self) -> torch.device:
        """Of the operator."""
        return self._operator.device

    def matmat(self, v_MK: Float[Tensor, "m k"]) -> Float[Tensor, "n k"]:
        """Return A^T V, at the price of ``rmatmat`` of A."""
        return self._operator.rmatmat(v_MK)

    def rmatmat(self, u_NK: Float[Tensor, "n k"]) -> Float[Tensor, "m k"]:
        """Return A U, at the price of ``matmat`` of A."""
        return self._operator.matmat(u_NK)
