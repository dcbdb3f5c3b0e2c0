"""Spectral density from a block Krylov space that is there already: block Gauss quadrature (Golub & Meurant 1994).   M = rows, C = closed left vectors."""

from __future__ import annotations

import torch
from jaxtyping import Float64
from torch import Tensor

from vitgeom.randnla.block_golub_kahan import BlockGolubKahan
from vitgeom.randnla.spectral_density import SpectralDensity


def block_density(basis: BlockGolubKahan, *, exact_E: Float64[Tensor, " e"], total: float) -> SpectralDensity:
    """Return the converged eigenvalues, then quadrature nodes whose counts add up to the norm outside; no product is spent.

    The first block of a run is a uniform random orthonormal frame of b vectors in the complement of what earlier runs closed, A of M dimensions gone. For an
    eigenvector x of the run's K_c K_c^T = U_c^T J J^T U_c, the number (M - A) / b sum_i x_i^2 over the first b components counts, in expectation, the eigenvalues of J J^T
    that its node stands for: stochastic Lanczos quadrature from b probes. Closed runs are exact and stand for themselves. In the first run the leading nodes that
    converged are replaced by their values, count 1. The counts of the rest are scaled to what ||J||_F^2 leaves for them.

    Args:
        basis: From :func:`block_golub_kahan`.
        exact_E: Leading eigenvalues taken as known, descending.
        total: ||J||_F^2.
    """
    if basis.exhausted:
        return SpectralDensity.of_eigenvalues(torch.linalg.svdvals(basis.coupling_AB) ** 2)
    last = basis.stages[-1]
    run = basis.coupling_AB[last.first_left : last.closed, last.first_right : last.right]
    x_CC, sigma, _ = torch.linalg.svd(run, full_matrices=False)
    width = min(basis.width, len(x_CC))
    values = sigma**2
    counts = (x_CC[:width] ** 2).sum(dim=0) * (basis.left_MA.shape[0] - last.first_left) / width
    if last.first_left:
        closed = basis.coupling_AB[: last.first_left, : last.first_right]
        known = torch.linalg.svdvals(closed) ** 2
    else:
        known, values, counts = exact_E, values[len(exact_E) :], counts[len(exact_E) :]
    left_over, measured = max(total - float(known.sum()), 0.0), float((values * counts).sum())
    return SpectralDensity.mixed(known, values, counts * (left_over / measured if measured > 0 else 0.0))
