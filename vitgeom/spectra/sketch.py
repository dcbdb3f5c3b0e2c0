"""What every recipe hands over, whatever it did to get there.   M = rows, N = columns, R = directions, T = tokens."""

from __future__ import annotations

from dataclasses import dataclass

from jaxtyping import Float, Float64
from torch import Tensor

from vitgeom.bootstrap import Interval
from vitgeom.randnla.products import Products
from vitgeom.randnla.row_block_norms import BlockNorms
from vitgeom.randnla.spectral_density import SpectralDensity


@dataclass(frozen=True)
class Sketch:
    """The spectrum of J as far as it was measured.

    Attributes:
        recipe: Its name.
        shape: (M, N).
        right_NR: Leading right vectors, orthonormal.
        sigma_R: ||J v_j||, descending.
        leading: Squared singular values as far as they are known, the first R of them sigma_R^2.
        converged: How many of ``leading`` can be taken as exact.
        lost: Estimate of what the sum of sigma_R^2 misses of the true top R.
        norm: ||J||_F^2 with its 95 % interval; a point where it is exact.
        stderr: One standard error of it.
        norms: ||J_t||_F^2 of every token.
        density: Of the eigenvalues of J^T J; None where nothing was spent on it.
        square: tr((J^T J)^2); None where it is not known.
        residuals_R: Of the triplets; None where they were not measured.
        products: Spent in all.
    """

    recipe: str
    shape: tuple[int, int]
    right_NR: Float[Tensor, "n r"]
    sigma_R: Float64[Tensor, " r"]
    leading: Float64[Tensor, " k"]
    converged: int
    lost: float
    norm: Interval
    stderr: float
    norms: BlockNorms
    density: SpectralDensity | None
    square: float | None
    residuals_R: Float64[Tensor, " r"] | None
    products: Products

    @property
    def exact(self) -> bool:
        """Whether the norm carries no sampling error."""
        return self.norm.low == self.norm.high
