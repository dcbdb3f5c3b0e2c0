"""A weight for each entry.   N = order, K = vectors."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from vitgeom.errors import InvalidInput
from vitgeom.linop.operand import check_operand


class DiagonalOperator:
    """diag(w), for example an output metric that weighs each output by itself.

    Args:
        weights: Finite floating-point [N], N >= 1; kept, never changed. Zero and negative weights are allowed.

    Raises:
        InvalidInput: They are no such weights.
    """

    def __init__(self, weights: object) -> None:
        if (
            not isinstance(weights, Tensor)
            or weights.ndim != 1
            or not len(weights)
            or not weights.is_floating_point()
        ):
            found = (
                f"{weights.dtype} {list(weights.shape)}"
                if isinstance(weights, Tensor)
                else type(weights).__name__
            )
            raise InvalidInput(f"weights must be a floating-point tensor [N] with N >= 1, got {found}.")
        if not bool(weights.isfinite().all()):
            place = int((~weights.isfinite()).nonzero()[0])
            raise InvalidInput(f"weights are not finite at entry {place}. Remove or repair it.")
        self._weights = weights.detach()

    @property
    def shape(self) -> tuple[int, int]:
        """(N, N)."""
        return len(self._weights), len(self._weights)

    @property
    def dtype(self) -> torch.dtype:
        """Of the weights."""
        return self._weights.dtype

    @property
    def device(self) -> torch.device:
        """Of the weights."""
        return self._weights.device

    def matmat(self, v_NK: Float[Tensor, "n k"]) -> Float[Tensor, "n k"]:
        """Return diag(w) V in N K multiplications."""
        check_operand(v_NK, name="v_NK", length=self.shape[1], dtype=self.dtype, device=self.device)
        return self._weights[:, None] * v_NK

    def rmatmat(self, u_NK: Float[Tensor, "n k"]) -> Float[Tensor, "n k"]:
        """Return diag(w) U: the operator is its own transpose."""
        check_operand(u_NK, name="u_NK", length=self.shape[0], dtype=self.dtype, device=self.device)
        return self._weights[:, None] * u_NK
