"""The sum of two operators.   M = rows, N = columns, K = vectors."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from vitgeom.errors import InvalidInput
from vitgeom.linop.agreement import check_operator, check_same_kind, listed


class SumOperator:
    """A + B. A product costs one with each.

    Args:
        first: A, M x N.
        second: B, M x N.

    Raises:
        InvalidInput: One is no operator, or they differ in shape, dtype or device.
    """

    def __init__(self, first: object, second: object) -> None:
        self._first = check_operator(first, name="first")
        self._second = check_operator(second, name="second")
        check_same_kind(self._first, self._second, names=("first", "second"))
        if self._first.shape != self._second.shape:
            raise InvalidInput(
                f"first is {listed(self._first.shape)}, second {listed(self._second.shape)}: a sum needs one shape. "
                "Check whether a product was meant."
            )

    @property
    def shape(self) -> tuple[int, int]:
        """(M, N)."""
        return self._first.shape

    @property
    def dtype(self) -> torch.dtype:
        """Of both."""
        return self._first.dtype

    @property
    def device(self) -> torch.device:
        """Of both."""
        return self._first.device

    def matmat(self, v_NK: Float[Tensor, "n k"]) -> Float[Tensor, "m k"]:
        """Return A V + B V."""
        return self._first.matmat(v_NK) + self._second.matmat(v_NK)

    def rmatmat(self, u_MK: Float[Tensor, "m k"]) -> Float[Tensor, "n k"]:
        """Return A^T U + B^T U."""
        return self._first.rmatmat(u_MK) + self._second.rmatmat(u_MK)
