"""How a budget of products is divided between the basis and the probes; the measurements behind it are in DESIGN.md."""

from __future__ import annotations

from dataclasses import dataclass

from vitgeom.errors import InvalidInput

FEWEST_PROBES = 8
BASIS_SHARE = 0.6


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
    """Return the fewest products that rank right vectors (two each) and an error bar need.

    Args:
        rank: r.
    """
    return 2 * rank + FEWEST_PROBES


def krylov_plan(budget: int, *, rank: int, width: int | None = None) -> KrylovPlan:
    """Divide a budget: 60 % for the basis, more where rank asks for it, the rest for probes; blocks of a quarter of the rank.

    Args:
        budget: Single products in all.
        rank: Leading triplets wanted.
        width: Vectors per block; None for the default.

    Raises:
        InvalidInput: The budget is too small for the rank.
    """
    if budget < least_budget(rank):
        raise InvalidInput(
            f"budget must be >= {least_budget(rank)} products for rank {rank} (2 per right vector and {FEWEST_PROBES} probes), got {budget}. "
            "Raise budget or lower rank."
        )
    enough = min(4 * rank, budget - FEWEST_PROBES)
    basis = max(int(BASIS_SHARE * budget), enough)
    basis = min(basis, budget - FEWEST_PROBES)
    chosen = max(1, -(-rank // 4)) if width is None else width
    return KrylovPlan(min(chosen, basis // 2), basis, budget - basis)
