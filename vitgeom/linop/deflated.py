"""An operator without the directions that are known already.   M = rows, N = columns, R = directions, K = vectors."""

from __future__ import annotations

from typing import Literal, get_args

import torch
from jaxtyping import Float
from torch import Tensor

from vitgeom.errors import InvalidInput, UnknownName
from vitgeom.linop.agreement import check_operator
from vitgeom.linop.operand import check_operand

Side = Literal["left", "right"]
TOLERANCE = {torch.float32: 1e-4, torch.float64: 1e-10}


class DeflatedOperator:
    """(I - Q Q^T) A for side "left", A (I - Q Q^T) for side "right", at the price of A and 2 R multiplications per entry.

    With V the right basis, ||A||_F^2 = ||A V||_F^2 + ||A (I - V V^T)||_F^2: probes of the deflated operator estimate only what the
    basis did not capture.

    Args:
        operator: A, M x N.
        basis: Q with orthonormal columns, [M, R] for "left", [N, R] for "right"; R = 0 leaves A as it is.
        side: On which side of A the projection stands.

    Raises:
        UnknownName: Another side.
        InvalidInput: The basis has another shape, dtype or device, or its columns are not orthonormal.
    """

    def __init__(self, operator: object, basis: object, *, side: str) -> None:
        self._operator = check_operator(operator, name="operator")
        if side not in get_args(Side):
            raise UnknownName("side", side, get_args(Side))
        self._side = side
        length = self._operator.shape[0 if side == "left" else 1]
        check_operand(
            basis, name="basis", length=length, dtype=self._operator.dtype, device=self._operator.device
        )
        assert isinstance(basis, Tensor)
        _check_orthonormal(basis)
        self._basis = basis.detach()

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
        """Return the deflated product; K products with A."""
        if self._side == "left":
            return self._remove(self._operator.matmat(v_NK))
        check_operand(v_NK, name="v_NK", length=self.shape[1], dtype=self.dtype, device=self.device)
        return self._operator.matmat(self._remove(v_NK))

    def rmatmat(self, u_MK: Float[Tensor, "m k"]) -> Float[Tensor, "n k"]:
        """Return the deflated transposed product; K products with A^T."""
        if self._side == "right":
            return self._remove(self._operator.rmatmat(u_MK))
        check_operand(u_MK, name="u_MK", length=self.shape[0], dtype=self.dtype, device=self.device)
        return self._operator.rmatmat(self._remove(u_MK))

    def _remove(self, block: Tensor) -> Tensor:
        return block - self._basis @ (self._basis.mT @ block)


def _check_orthonormal(basis: Tensor) -> None:
    wide = basis.double()
    gram = wide.mT @ wide
    error = (
        float((gram - torch.eye(len(gram), dtype=gram.dtype, device=gram.device)).abs().max())
        if len(gram)
        else 0.0
    )
    bound = TOLERANCE.get(basis.dtype, TOLERANCE[torch.float32])
    if not error <= bound:
        raise InvalidInput(
            f"basis must have orthonormal columns, but max |Q^T Q - I| is {error:.1e} > {bound:.0e}. "
            "Give torch.linalg.qr(basis).Q, or an empty basis [length, 0]."
        )
