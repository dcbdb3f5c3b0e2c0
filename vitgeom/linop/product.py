"""One operator after another.   M = rows, L = where the two meet, N = columns, K = vectors."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from vitgeom.errors import InvalidInput
from vitgeom.linop.agreement import check_operator, check_same_kind, listed


class ProductOperator:
    """A B: first B, then A. A product costs one with each.

    Args:
        left: A, M x L.
        right: B, L x N.

    Raises:
        InvalidInput: One is no operator, or they differ in dtype, device or L.
    """

    def __init__(self, left: object, right: object) -> None:
        self._left = check_operator(left, name="left")
        self._right = check_operator(right, name="right")
        check_same_kind(self._left, self._right, names=("left", "right"))
        if self._left.shape[1] != self._right.shape[0]:
            raise InvalidInput(
                f"left is {listed(self._left.shape)}, right {listed(self._right.shape)}: columns of left must be rows of right. "
                "Check their order; right acts first."
            )

    @property
    def shape(self) -> tuple[int, int]:
        """(M, N)."""
        return self._left.shape[0], self._right.shape[1]

    @property
    def dtype(self) -> torch.dtype:
        """Of both."""
        return self._right.dtype

    @property
    def device(self) -> torch.device:
        """Of the first to act."""
        return self._right.device

    def matmat(self, v_NK: Float[Tensor, "n k"]) -> Float[Tensor, "m k"]:
        """Return A (B V)."""
        return self._left.matmat(self._right.matmat(v_NK))

    def rmatmat(self, u_MK: Float[Tensor, "m k"]) -> Float[Tensor, "n k"]:
        """Return B^T (A^T U)."""
        return self._right.rmatmat(self._left.rmatmat(u_MK))
