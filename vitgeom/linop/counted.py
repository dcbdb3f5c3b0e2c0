"""How many products were spent.   M = rows, N = columns, K = vectors."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from vitgeom.linop.agreement import check_operator


class CountedOperator:
    """A, with single products counted: a block of K vectors counts K. Refused operands count nothing.

    Args:
        operator: A, M x N. Count outside of other combinations to count what an algorithm asks for, inside to count what it costs.

    Attributes:
        matmats: Single products with A so far (JVPs, where A is a Jacobian).
        rmatmats: Single products with A^T so far (VJPs).

    Raises:
        InvalidInput: It is no operator.
    """

    def __init__(self, operator: object) -> None:
        self._operator = check_operator(operator, name="operator")
        self.matmats = 0
        self.rmatmats = 0

    @property
    def products(self) -> int:
        """Single products of both kinds so far."""
        return self.matmats + self.rmatmats

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
        """Return A V and count K."""
        product = self._operator.matmat(v_NK)
        self.matmats += v_NK.shape[1]
        return product

    def rmatmat(self, u_MK: Float[Tensor, "m k"]) -> Float[Tensor, "n k"]:
        """Return A^T U and count K."""
        product = self._operator.rmatmat(u_MK)
        self.rmatmats += u_MK.shape[1]
        return product
