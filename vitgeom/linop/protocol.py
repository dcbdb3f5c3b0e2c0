"""What every operator can do.   M = rows (outputs), N = columns (inputs), K = vectors multiplied at once."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import torch
from jaxtyping import Float
from torch import Tensor


@runtime_checkable
class LinearOperator(Protocol):
    """A real linear map A: R^N -> R^M.

    An operator never changes what it is given, keeps dtype and device of its operand, draws nothing at random, and satisfies
    <A v, u> = <v, A^T u>.
    """

    @property
    def shape(self) -> tuple[int, int]:
        """(M, N)."""
        ...

    @property
    def dtype(self) -> torch.dtype:
        """Of operands and products."""
        ...

    @property
    def device(self) -> torch.device:
        """Of operands and products."""
        ...

    def matmat(self, v_NK: Float[Tensor, "n k"]) -> Float[Tensor, "m k"]:
        """Return A V; K single products."""
        ...

    def rmatmat(self, u_MK: Float[Tensor, "m k"]) -> Float[Tensor, "n k"]:
        """Return A^T U; K single products."""
        ...
