"""Leading singular triplets and ||J||_F^2 from one block Krylov space that keeps every iterate (Musco & Musco 2015, Algorithm 2).   M = rows, N = columns."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Generator

from vitgeom.linop import LinearOperator
from vitgeom.randnla.block_golub_kahan import BlockGolubKahan, block_golub_kahan
from vitgeom.randnla.deflated_probes import DeflatedProbes, deflated_probes
from vitgeom.randnla.krylov_plan import krylov_plan
from vitgeom.randnla.products import Products
from vitgeom.randnla.ritz import RitzTriplets, ritz_triplets
from vitgeom.whole_numbers import whole_number


@dataclass(frozen=True)
class BlockKrylov:
    """What one budget of products found.

    Attributes:
        triplets: Leading singular triplets.
        basis: The factorisation they come from.
        probes: Of what is outside it, with the estimate of ||J||_F^2.
        products: Spent in all.
    """

    triplets: RitzTriplets
    basis: BlockGolubKahan
    probes: DeflatedProbes
    products: Products


def block_krylov(
    operator: LinearOperator, *, rank: int, budget: int, width: int | None = None, generator: Generator
) -> BlockKrylov:
    """Find the top triplets by Rayleigh-Ritz on a block Golub-Kahan basis and the norm by probes of its complement.

    Args:
        operator: J [M, N].
        rank: Triplets wanted; at most min(M, N) and the numerical rank of J come back.
        budget: Single products in all; never exceeded, not spent where J is exhausted before.
        width: Vectors per block; None for the plan's.
        generator: The only source of randomness.

    Raises:
        InvalidInput: The budget is too small for the rank.
        NumericalFailure: A product is not finite.
    """
    rank = min(whole_number("rank", rank, at_least=1), *operator.shape)
    whole_number("budget", budget, at_least=1)
    plan = krylov_plan(budget, rank=rank, width=width)
    basis = block_golub_kahan(
        operator, width=plan.width, rank=rank, max_products=plan.basis_products, generator=generator
    )
    probes = deflated_probes(operator, basis, num_probes=budget - basis.products.total, generator=generator)
    return BlockKrylov(ritz_triplets(basis, rank=rank), basis, probes, basis.products + probes.products)
