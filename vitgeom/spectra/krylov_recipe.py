"""The default recipe: one block Krylov basis for directions and density, deflated probes for the norm and the tokens."""

from __future__ import annotations

from torch import Generator

from vitgeom.linop import LinearOperator
from vitgeom.randnla.block_krylov import block_krylov
from vitgeom.randnla.block_quadrature import block_density
from vitgeom.randnla.intervals import positive_mean_interval
from vitgeom.randnla.row_block_norms import deflated_block_norms
from vitgeom.spectra.sketch import Sketch


def krylov_sketch(
    operator: LinearOperator, *, rank: int, budget: int, num_tokens: int, generator: Generator
) -> Sketch:
    """Spend a budget on block Krylov and deflated probes.

    Args:
        operator: J [M, N].
        rank: Directions wanted.
        budget: Single products, never exceeded.
        num_tokens: T.
        generator: The only source of randomness.

    Raises:
        InvalidInput: The budget is too small for the rank.
        NumericalFailure: A product is not finite.
    """
    found = block_krylov(operator, rank=rank, budget=budget, generator=generator)
    triplets, probes = found.triplets, found.probes
    squared = triplets.sigma**2
    density = block_density(found.basis, exact_E=squared[: triplets.converged], total=probes.norm.value)
    kept = triplets.right_NR.shape[1]
    return Sketch(
        recipe="krylov",
        shape=operator.shape,
        right_NR=triplets.right_NR,
        sigma_R=triplets.sigma[:kept],
        leading=squared,
        converged=triplets.converged,
        lost=triplets.lost,
        norm=positive_mean_interval(probes.outside_S, offset=probes.known),
        stderr=probes.norm.stderr,
        norms=deflated_block_norms(found.basis, probes, num_blocks=num_tokens),
        density=density,
        square=density.moment(2),
        residuals_R=triplets.residuals,
        products=found.products,
    )
