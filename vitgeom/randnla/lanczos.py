"""Lanczos tridiagonalisation with full reorthogonalisation (Lanczos 1950; Paige 1972).   N = order, K = steps."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float, Float64
from torch import Tensor

from vitgeom.errors import InvalidInput
from vitgeom.linop import LinearOperator
from vitgeom.randnla.checked_product import jvp, working_dtype
from vitgeom.randnla.hutchinson import check_square
from vitgeom.randnla.orthonormal import extend, largest_column
from vitgeom.randnla.products import Products
from vitgeom.whole_numbers import whole_number


@dataclass(frozen=True)
class Lanczos:
    """A Q = Q T + residual in the last column, Q^T Q = I, T tridiagonal.

    Attributes:
        basis_NK: Q; its first column is the start, normalised.
        diagonal: Of T.
        off_diagonal: Of T; all above rounding.
        closed: The Krylov space is invariant: every eigenvalue of T is one of A.
        products: K.
    """

    basis_NK: Float[Tensor, "n k"]
    diagonal: Float64[Tensor, " k"]
    off_diagonal: Float64[Tensor, " j"]
    closed: bool
    products: Products

    def tridiagonal(self) -> Float64[Tensor, "k k"]:
        """Return T."""
        return self.diagonal.diag() + self.off_diagonal.diag(1) + self.off_diagonal.diag(-1)


def lanczos(operator: LinearOperator, start_N1: Float[Tensor, "n 1"], *, steps: int) -> Lanczos:
    """Tridiagonalise a symmetric operator from a start vector; stops early where the Krylov space is invariant.

    Args:
        operator: Symmetric, order N; only ``matmat`` is called.
        start_N1: Not zero.
        steps: K >= 1; at most N are taken.

    Raises:
        InvalidInput: The operator is not square, the start is zero or of another length, or ``steps`` < 1.
        NumericalFailure: A product is not finite.
    """
    check_square(operator, purpose="lanczos")
    order = operator.shape[0]
    length = float(start_N1.double().norm())
    if start_N1.shape != (order, 1) or length == 0:
        raise InvalidInput(
            f"start must be a vector [{order}, 1] that is not zero, got {list(start_N1.shape)} of length {length}."
        )
    whole_number("steps", steps, at_least=1)
    basis = (start_N1.double() / length).to(operator.device, working_dtype(operator))
    diagonal: list[float] = []
    off_diagonal: list[float] = []
    norm = 0.0
    for step in range(min(steps, order)):
        image = jvp(operator, basis[:, -1:])
        norm = max(norm, largest_column(image))
        tolerance = 4 * order**0.5 * torch.finfo(basis.dtype).eps * norm
        extension = extend(basis, image, tolerance=tolerance)
        diagonal.append(float(extension.known_KB[-1, 0]))
        if extension.new_NC.shape[1] == 0:
            return _result(basis, diagonal, off_diagonal, closed=True)
        if step + 1 < min(steps, order):
            # The sign of a new basis vector is free: the one of the image makes the off-diagonal positive.
            sign = torch.sign(extension.remainder_CB[0, 0])
            basis = torch.cat([basis, extension.new_NC * sign.to(basis)], dim=1)
            off_diagonal.append(float(extension.remainder_CB[0, 0].abs()))
    return _result(basis, diagonal, off_diagonal, closed=False)


def _result(basis: Tensor, diagonal: list[float], off_diagonal: list[float], *, closed: bool) -> Lanczos:
    return Lanczos(
        basis,
        torch.tensor(diagonal, dtype=torch.float64),
        torch.tensor(off_diagonal, dtype=torch.float64),
        closed,
        Products(jvp=len(diagonal)),
    )
