"""Trace by leave-one-out sketches (XTrace; Epperly, Tropp & Webber 2024, Algorithm 1.2 with the scaling of their section 2.3).   N = order, K = vectors."""

from __future__ import annotations

import torch
from torch import Generator, Tensor

from vitgeom.errors import InvalidInput
from vitgeom.linop import LinearOperator
from vitgeom.randnla.checked_product import jvp
from vitgeom.randnla.estimate import Estimate
from vitgeom.randnla.hutchinson import check_square
from vitgeom.randnla.orthonormal import extend
from vitgeom.randnla.products import Products
from vitgeom.randnla.random_vectors import sphere

FEWEST = 4


def xtrace(operator: LinearOperator, *, num_products: int, generator: Generator) -> Estimate:
    """Estimate tr(A): each of K test vectors probes what the other K - 1 leave outside their sketch.

    t_i = tr(Q_i^T A Q_i) + (N - K + 1) / ||m_i||^2 m_i^T A m_i with Q_i a basis of A W without column i and m_i = (I - Q_i Q_i^T) w_i.
    Q_i Q_i^T = Q (I - s_i s_i^T) Q^T, where s_i is column i of R^-T, normalised; so no sketch is made twice.

    R^-T needs full rank. Where A W has less than K, the range of A lies in it (with probability one) and tr(Q^T A Q) is the trace itself.

    Args:
        operator: Square, order N; only ``matmat`` is called.
        num_products: 2 K >= 4.
        generator: The only source of randomness.

    Returns:
        The mean of the t_i, their standard error (they are exchangeable, not independent: a guide, not a bound), and the products spent.

    Raises:
        InvalidInput: The operator is not square, or too few products.
        NumericalFailure: A product is not finite.
    """
    check_square(operator, purpose="trace")
    if num_products < FEWEST:
        raise InvalidInput(f"num_products must be >= {FEWEST} for XTrace, got {num_products}.")
    order = operator.shape[0]
    count = min(num_products // 2, order)
    w_NK = sphere(order, count, generator=generator)
    y_NK = jvp(operator, w_NK)
    floor = order**0.5 * torch.finfo(y_NK.dtype).eps * float(y_NK.norm())
    q_NR = extend(y_NK[:, :0], y_NK, tolerance=floor).new_NC
    z_NR = jvp(operator, q_NR)
    spent = Products(jvp=count + q_NR.shape[1])
    q_NR, z_NR, y_NK = q_NR.double().cpu(), z_NR.double().cpu(), y_NK.double().cpu()
    if q_NR.shape[1] < count or count == order:
        return Estimate(float((q_NR * z_NR).sum()), 0.0, spent)
    return Estimate.from_samples(_leave_one_out(w_NK, y_NK, q_NR, z_NR), products=spent)


def _leave_one_out(w_NK: Tensor, y_NK: Tensor, q_NK: Tensor, z_NK: Tensor) -> Tensor:
    """The t_i of all test vectors; column i of every matrix here belongs to test vector i."""
    order, count = w_NK.shape
    s_KK = torch.linalg.inv(q_NK.mT @ y_NK).mT
    s_KK = s_KK / s_KK.norm(dim=0)
    h_KK = q_NK.mT @ z_NK
    inside = h_KK.trace() - (s_KK * (h_KK @ s_KK)).sum(dim=0)
    # Coordinates in Q of Q_i Q_i^T w_i = Q (I - s_i s_i^T) Q^T w_i.
    x_KK = q_NK.mT @ w_NK
    x_KK = x_KK - s_KK * (s_KK * x_KK).sum(dim=0)
    m_NK = w_NK - q_NK @ x_KK
    outside = (m_NK * (y_NK - z_NK @ x_KK)).sum(dim=0)
    return inside + outside * (order - count + 1) / (m_NK**2).sum(dim=0)
