"""J^T J as a symmetric operator, optionally on the complement of known right vectors.   M, N = shape of J, K = vectors, E = known ones."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from vitgeom.linop import LinearOperator
from vitgeom.linop.operand import check_operand


class GramOperator:
    """(I - Q Q^T) J^T J (I - Q Q^T), order N; one product costs one with J and one with J^T.

    Args:
        operator: J.
        without_NE: Orthonormal Q whose span is projected out; None for none.
    """

    def __init__(self, operator: LinearOperator, *, without_NE: Tensor | None = None) -> None:
        """Keep both."""
        self._operator, self._without = operator, without_NE

    @property
    def shape(self) -> tuple[int, int]:
        """(N, N)."""
        order = self._operator.shape[1]
        return order, order

    @property
    def dtype(self) -> torch.dtype:
        """Of J."""
        return self._operator.dtype

    @property
    def device(self) -> torch.device:
        """Of J."""
        return self._operator.device

    def project(self, v_NK: Float[Tensor, "n k"]) -> Float[Tensor, "n k"]:
        """Return (I - Q Q^T) V.

        Args:
            v_NK: V.
        """
        if self._without is None:
            return v_NK
        q = self._without.to(v_NK)
        return v_NK - q @ (q.mT @ v_NK)

    def matmat(self, v_NK: Float[Tensor, "n k"]) -> Float[Tensor, "n k"]:
        """Return the product with V in K products each way."""
        check_operand(v_NK, name="v_NK", length=self.shape[1], dtype=self.dtype, device=self.device)
        return self.project(self._operator.rmatmat(self._operator.matmat(self.project(v_NK))))

    def rmatmat(self, u_NK: Float[Tensor, "n k"]) -> Float[Tensor, "n k"]:
        """Return the same: it is symmetric."""
        return self.matmat(u_NK)
