"""A spectrum as atoms: eigenvalues of J^T J and how often each occurs.   K = atoms."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float64
from torch import Tensor

from vitgeom.errors import InvalidInput
from vitgeom.randnla.products import NOTHING_SPENT, Products


@dataclass(frozen=True)
class SpectralDensity:
    """Atoms in descending order of their eigenvalue.

    Attributes:
        values: Eigenvalues sigma^2 >= 0.
        counts: How many eigenvalues each atom stands for; fractions come from quadrature.
        exact: How many leading atoms are eigenvalues themselves (count 1), not nodes of a quadrature.
        products: Spent on it alone.
    """

    values: Float64[Tensor, " k"]
    counts: Float64[Tensor, " k"]
    exact: int
    products: Products = NOTHING_SPENT

    @property
    def total(self) -> float:
        """Sum of all eigenvalues, ||J||_F^2."""
        return float((self.values * self.counts).sum())

    def moment(self, power: int) -> float:
        """Return the sum of all eigenvalues to a power.

        Args:
            power: 1 gives the trace of J^T J, 2 its squared Frobenius norm.
        """
        return float((self.values**power * self.counts).sum())

    def entropy_rank(self) -> float | None:
        """Return exp(H(sigma^2 / sum)), None for a spectrum of zeros."""
        if self.total == 0:
            return None
        share = self.values / self.total
        log = torch.where(share > 0, share, 1.0).log()
        return float(torch.exp(-(share * log * self.counts).sum()))

    def participation_ratio(self) -> float | None:
        """Return (sum sigma^2)^2 / sum sigma^4, None for a spectrum of zeros."""
        square = self.moment(2)
        return self.total**2 / square if square > 0 else None

    def rank_for(self, share: float) -> float | None:
        """Return how many leading eigenvalues hold a share of the total; not rounded, as an atom may stand for many.

        Args:
            share: In (0, 1].

        Raises:
            InvalidInput: The share is out of range.
        """
        if not 0 < share <= 1:
            raise InvalidInput(f"share must lie in (0, 1], got {share}.")
        if self.total == 0:
            return None
        energy = self.values * self.counts
        held = energy.cumsum(0)
        # Sums of many numbers reach the whole only to rounding.
        wanted = share * self.total * (1 - 1e-12)
        atom = int((held < wanted).sum().clamp_max(len(energy) - 1))
        before = float(held[atom] - energy[atom])
        part = (wanted - before) / float(energy[atom]) * float(self.counts[atom])
        return float(self.counts[:atom].sum()) + max(part, 0.0)

    @classmethod
    def of_eigenvalues(cls, values: Float64[Tensor, " k"]) -> SpectralDensity:
        """Return the density of eigenvalues that are all known.

        Args:
            values: In any order; rounding below zero is cut off.
        """
        ordered = values.clamp_min(0).sort(descending=True).values
        return cls(ordered, torch.ones_like(ordered), len(ordered))

    @classmethod
    def mixed(
        cls,
        exact_E: Float64[Tensor, " e"],
        values: Float64[Tensor, " k"],
        counts: Float64[Tensor, " k"],
        *,
        products: Products = NOTHING_SPENT,
    ) -> SpectralDensity:
        """Return known eigenvalues followed by the atoms of a quadrature.

        Args:
            exact_E: Known, one each.
            values: Nodes of the rest, in any order.
            counts: How many eigenvalues each stands for.
            products: Spent on the quadrature.
        """
        order = values.argsort(descending=True)
        return cls(
            torch.cat([exact_E, values[order].clamp_min(0)]),
            torch.cat([torch.ones_like(exact_E), counts[order]]),
            len(exact_E),
            products,
        )
