"""Top right singular vectors by randomised power iteration (Halko, Martinsson & Tropp 2011, Algorithm 4.4).   M = rows, N = columns, R = rank."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float, Float64
from torch import Generator, Tensor

from vitgeom.linop import LinearOperator
from vitgeom.randnla.checked_product import jvp, vjp, working_dtype
from vitgeom.randnla.orthonormal import largest_column
from vitgeom.randnla.products import Products
from vitgeom.randnla.random_vectors import gaussian
from vitgeom.whole_numbers import whole_number


@dataclass(frozen=True)
class PowerIteration:
    """Right vectors with the lengths of their images.

    Attributes:
        right_NR: Orthonormal, ordered by ``lengths``.
        lengths: S_j = ||J v_j||, descending; these are no Ritz values.
        products: Spent.
    """

    right_NR: Float[Tensor, "n r"]
    lengths: Float64[Tensor, " r"]
    products: Products


def power_iteration(
    operator: LinearOperator, *, rank: int = 20, steps: int = 2, generator: Generator
) -> PowerIteration:
    """Iterate Omega <- J^T (J Omega), orthonormalised each time, and measure S_j = ||J v_j||.

    Costs 2 R q + R products. All iterates but the last are thrown away, so with q = 2 the vectors miss up to 14 % of the top energy on slow spectra:
    the reference to compare with, not the one to use.

    Args:
        operator: J [M, N].
        rank: R >= 1; min(M, N) where that is less.
        steps: q >= 0.
        generator: The only source of randomness.

    Raises:
        InvalidInput: A number out of range.
        NumericalFailure: A product is not finite.
    """
    for name, value, least in (("rank", rank, 1), ("steps", steps, 0)):
        whole_number(name, value, at_least=least)
    rank = min(rank, *operator.shape)
    start = gaussian(operator.shape[1], rank, generator=generator)
    omega = _orthonormal(start.to(operator.device, working_dtype(operator)))
    for _ in range(steps):
        image = jvp(operator, omega)
        # The span is what counts: at length 1 neither J^T J overflows nor vanishes in single precision.
        omega = _orthonormal(vjp(operator, image / (largest_column(image) or 1.0)))
    lengths = torch.linalg.vector_norm(jvp(operator, omega), dim=0, dtype=torch.float64).cpu()
    order = lengths.argsort(descending=True)
    spent = Products(jvp=rank * (steps + 1), vjp=rank * steps)
    return PowerIteration(omega[:, order.to(omega.device)], lengths[order], spent)


def _orthonormal(block: Tensor) -> Tensor:
    return torch.linalg.qr(block).Q
