"""Trace with a sketch of the range deflated (Hutch++; Meyer, Musco, Musco & Woodruff 2021, Algorithm 1).   N = order, K = products."""

from __future__ import annotations

import torch
from torch import Generator

from vitgeom.errors import InvalidInput
from vitgeom.linop import LinearOperator
from vitgeom.randnla.checked_product import jvp
from vitgeom.randnla.estimate import Estimate
from vitgeom.randnla.hutchinson import check_square
from vitgeom.randnla.orthonormal import extend
from vitgeom.randnla.products import Products
from vitgeom.randnla.random_vectors import Draw, signs

FEWEST = 6
"""A third each for sketch, basis and probes, and two probes for an error bar."""


def hutchpp_trace(
    operator: LinearOperator, *, num_products: int, draw: Draw = signs, generator: Generator
) -> Estimate:
    """Estimate tr(A) = tr(Q^T A Q) + E[g^T (I - Q Q^T) A (I - Q Q^T) g], Q a basis of A S.

    Without bias for every square A; the relative error falls like 1 / K for positive semidefinite A. Wrong to use where a Krylov basis exists
    already: it deflates more for nothing.

    Args:
        operator: Square, order N; only ``matmat`` is called.
        num_products: K >= 6, a third each for S, Q and G.
        draw: Distribution of S and G.
        generator: The only source of randomness.

    Returns:
        The estimate with the standard error of its random part, and the products spent.

    Raises:
        InvalidInput: The operator is not square, or too few products.
        NumericalFailure: A product is not finite.
    """
    check_square(operator, purpose="trace")
    if num_products < FEWEST:
        raise InvalidInput(f"num_products must be >= {FEWEST} for Hutch++, got {num_products}.")
    order, third = operator.shape[0], num_products // 3
    sketch = jvp(operator, draw(order, min(third, order), generator=generator))
    floor = order**0.5 * torch.finfo(sketch.dtype).eps * float(sketch.norm())
    q_NR = extend(sketch[:, :0], sketch, tolerance=floor).new_NC
    inside = float((q_NR * jvp(operator, q_NR)).double().sum())
    g_NK = draw(order, third, generator=generator).to(q_NR)
    g_NK = g_NK - q_NR @ (q_NR.mT @ g_NK)
    samples_K = (g_NK * jvp(operator, g_NK)).double().sum(dim=0).cpu()
    spent = Products(jvp=sketch.shape[1] + q_NR.shape[1] + third)
    return Estimate.from_samples(samples_K, products=spent, offset=inside)
