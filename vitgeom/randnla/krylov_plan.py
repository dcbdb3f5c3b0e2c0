"""How a budget of products is divided between the basis and the probes; the measurements behind it are in DESIGN.md."""

from __future__ import annotations

from dataclasses import dataclass

from vitgeom.errors import InvalidInput

FEWEST_PROBES = 8
BASIS_SHARE = 0.65
PRODUCTS_PER_WIDTH = 36
"""Steps matter more than width: a basis takes at least 18 pairs of half steps where the budget allows."""

PRODUCTS_PER_DIRECTION = 4.4
PRODUCTS_PER_VECTOR = 3


@dataclass(frozen=True)
class KrylovPlan:
    """Where the products go.

    Attributes:
        width: Vectors per block.
        basis_products: For bidiagonalisation, at most.
        probes: For the trace outside, at least; what the basis leaves over is added.
    """

    width: int
    basis_products: int
    probes: int


def least_budget(rank: int) -> int:
    """Return the fewest products that rank right vectors and an error bar need: two for each vector, and a third where singular values are repeated.

    Args:
        rank: r.
    """
    return PRODUCTS_PER_VECTOR * rank + FEWEST_PROBES


def krylov_plan(budget: int, *, rank: int, width: int | None = None) -> KrylovPlan:
    """Divide a budget: 65 % for the basis, and 4.4 products per direction where that is more; the rest for probes.

    Args:
        budget: Single products in all.
        rank: Leading triplets wanted.
        width: Vectors per block; None for the default.

    Raises:
        InvalidInput: The budget is too small for the rank.
    """
    if budget < least_budget(rank):
        raise InvalidInput(
            f"budget must be >= {least_budget(rank)} products for rank {rank} ({PRODUCTS_PER_VECTOR} per right vector and {FEWEST_PROBES} probes), got {budget}. "
            "Raise budget or lower rank."
        )
    # Short budgets go to the basis first: below 2.2 right vectors per direction the directions, not the norm, are what is wrong.
    enough = int(PRODUCTS_PER_DIRECTION * rank)
    basis = min(max(int(BASIS_SHARE * budget), enough), budget - FEWEST_PROBES)
    chosen = max(1, basis // PRODUCTS_PER_WIDTH) if width is None else width
    return KrylovPlan(min(chosen, basis // 2), basis, budget - basis)
