"""A-posteriori residuals of singular triplets (Golub & Van Loan 2013, section 8.6).   M = rows, N = columns, R = triplets."""

from __future__ import annotations

from dataclasses import dataclass

from jaxtyping import Float, Float64
from torch import Tensor

from vitgeom.linop import LinearOperator
from vitgeom.randnla.checked_product import jvp, vjp
from vitgeom.randnla.products import Products


@dataclass(frozen=True)
class Residuals:
    """How far triplets (u, sigma, v) are from J v = sigma u and J^T u = sigma v.

    Attributes:
        forward: ||J v - sigma u|| of each.
        backward: ||J^T u - sigma v|| of each. J has a singular value within the larger of the two over sqrt(2) of sigma.
        outside: ||(I - V V^T) J^T u|| of each: what the right vectors together miss.
        products: R each way.
    """

    forward: Float64[Tensor, " r"]
    backward: Float64[Tensor, " r"]
    outside: Float64[Tensor, " r"]
    products: Products


def triplet_residuals(
    operator: LinearOperator,
    *,
    left_MR: Float[Tensor, "m r"],
    sigma: Float64[Tensor, " r"],
    right_NR: Float[Tensor, "n r"],
) -> Residuals:
    """Measure the residuals of given triplets with R products each way.

    Args:
        operator: J [M, N].
        left_MR: U, orthonormal.
        sigma: Singular values.
        right_NR: V, orthonormal.

    Raises:
        NumericalFailure: A product is not finite.
    """
    forward = jvp(operator, right_NR) - left_MR * sigma.to(left_MR)
    image = vjp(operator, left_MR)
    backward = image - right_NR * sigma.to(right_NR)
    outside = image - right_NR @ (right_NR.mT @ image)
    count = len(sigma)
    return Residuals(_lengths(forward), _lengths(backward), _lengths(outside), Products(jvp=count, vjp=count))


def _lengths(columns: Tensor) -> Float64[Tensor, " r"]:
    return columns.double().norm(dim=0).cpu()
