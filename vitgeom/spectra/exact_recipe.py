"""Every diagnostic exactly, from min(M, N) products."""

from __future__ import annotations

import torch

from vitgeom.bootstrap import Interval
from vitgeom.linop import LinearOperator
from vitgeom.randnla.exact import exact_decomposition
from vitgeom.randnla.row_block_norms import BlockNorms
from vitgeom.randnla.spectral_density import SpectralDensity
from vitgeom.spectra.sketch import Sketch


def exact_sketch(operator: LinearOperator, *, rank: int, num_tokens: int) -> Sketch:
    """Multiply the identity on the smaller side and decompose J.

    Args:
        operator: J [M, N].
        rank: Directions wanted.
        num_tokens: T.

    Raises:
        NumericalFailure: A product is not finite.
    """
    found = exact_decomposition(operator, rank=rank)
    squared = found.sigma**2
    total = float(found.columns_squared_N.sum())
    tokens = found.columns_squared_N.reshape(num_tokens, -1).sum(dim=1)
    kept = found.right_NR.shape[1]
    return Sketch(
        recipe="exact",
        shape=operator.shape,
        right_NR=found.right_NR,
        sigma_R=found.sigma[:kept],
        leading=squared,
        converged=len(squared),
        lost=0.0,
        norm=Interval(total, total, total),
        stderr=0.0,
        norms=BlockNorms(tokens, torch.zeros_like(tokens), found.products),
        density=SpectralDensity.of_eigenvalues(squared),
        square=float((squared**2).sum()),
        residuals_R=torch.zeros(kept, dtype=torch.float64),
        products=found.products,
    )
