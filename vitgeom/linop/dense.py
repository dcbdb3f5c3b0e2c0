"""A matrix that is held in memory.   M = rows, N = columns, K = vectors."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from vitgeom.errors import InvalidInput
from vitgeom.linop.operand import check_operand


class DenseOperator:
    """The operator of an explicit matrix: small problems, tests, and output metrics.

    Args:
        matrix: Finite floating-point [M, N], M and N >= 1; kept, never changed.

    Raises:
        InvalidInput: It is no such matrix.
    """

    def __init__(self, matrix: Tensor) -> None:
        """Keep the matrix."""
        if not isinstance(matrix, Tensor):
            raise InvalidInput(
                f"matrix must be a torch.Tensor, got {type(matrix).__name__}. Convert it: torch.as_tensor(matrix)."
            )
        if matrix.ndim != 2 or 0 in matrix.shape or not matrix.is_floating_point():
            raise InvalidInput(
                f"matrix must be floating-point [M, N] with M, N >= 1, got {matrix.dtype} {list(matrix.shape)}."
            )
        if not bool(matrix.isfinite().all()):
            row, column = (~matrix.isfinite()).nonzero()[0].tolist()
            raise InvalidInput(
                f"matrix is not finite at row {row}, column {column}. Remove or repair that entry."
            )
        self._matrix = matrix.detach()

    @property
    def shape(self) -> tuple[int, int]:
        """(M, N)."""
        rows, columns = self._matrix.shape
        return rows, columns

    @property
    def dtype(self) -> torch.dtype:
        """Of the matrix."""
        return self._matrix.dtype

    @property
    def device(self) -> torch.device:
        """Of the matrix."""
        return self._matrix.device

    def matmat(self, v_NK: Float[Tensor, "n k"]) -> Float[Tensor, "m k"]:
        """Return A V in M N K multiplications."""
        check_operand(v_NK, name="v_NK", length=self.shape[1], dtype=self.dtype, device=self.device)
        return self._matrix @ v_NK

    def rmatmat(self, u_MK: Float[Tensor, "m k"]) -> Float[Tensor, "n k"]:
        """Return A^T U in M N K multiplications."""
        check_operand(u_MK, name="u_MK", length=self.shape[0], dtype=self.dtype, device=self.device)
        return self._matrix.mT @ u_MK
