"""Everything that is known about one Jacobian, frozen.   N = tokens, D = width, R = directions found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from jaxtyping import Float, Float64
from torch import Tensor

from vitgeom.bootstrap import Interval
from vitgeom.randnla.products import Products
from vitgeom.randnla.spectral_density import SpectralDensity
from vitgeom.spectra.effective_rank import EffectiveRanks
from vitgeom.spectra.regime import Regime
from vitgeom.spectra.token_energy import TokenSpread


@dataclass(frozen=True)
class Diagnosis:
    """The geometry of a task at one input; None stands for "undefined" or "not measured", never for 0.

    Attributes:
        recipe: ``exact``, ``krylov`` or ``reference``.
        shape: (M, N D).
        rank_asked: r as asked for.
        num_tokens: N.
        num_prefix: CLS and registers, first in the grid.
        singular_values_R: sigma_j, descending; R <= min(r, M, N D), less where J has fewer.
        right_NDR: v_j, orthonormal over N D.
        residuals_R: Of the triplets; see the recipe.
        kappa_caps_R: kappa_cap(1..R); None for a zero Jacobian.
        kappa: kappa_cap(R) with its 95 % interval.
        norm: ||J||_F^2 with its 95 % interval.
        norm_stderr: One standard error of it, 0 where exact.
        energy_N: e_t, the directions' energy per token; sums to R.
        importance_N: imp*_t of rank R.
        block_norms_N: ||J^(t)||_F, importance without truncation.
        block_norms_stderr_N: One standard error each of the *squared* norms.
        variation: CV of e_t.
        variation_weighted: CV of the sigma^2-weighted e_t.
        ranks: Effective ranks.
        density: Of sigma^2; None where nothing was spent on it.
        regime: Verdict with margins.
        advice: One paragraph.
        products: Spent.
    """

    recipe: str
    shape: tuple[int, int]
    rank_asked: int
    num_tokens: int
    num_prefix: int
    singular_values_R: Float64[Tensor, " r"]
    right_NDR: Float[Tensor, "n d r"]
    residuals_R: Float64[Tensor, " r"] | None
    kappa_caps_R: Float64[Tensor, " r"] | None
    kappa: Interval | None
    norm: Interval
    norm_stderr: float
    energy_N: Float64[Tensor, " n"]
    importance_N: Float64[Tensor, " n"]
    block_norms_N: Float64[Tensor, " n"]
    block_norms_stderr_N: Float64[Tensor, " n"]
    variation: TokenSpread
    variation_weighted: TokenSpread
    ranks: EffectiveRanks
    density: SpectralDensity | None
    regime: Regime
    advice: str
    products: Products

    @property
    def rank(self) -> int:
        """R, the directions found."""
        return len(self.singular_values_R)

    def arrays(self) -> dict[str, Tensor]:
        """Return every array that was measured, by name."""
        found = {
            "singular_values": self.singular_values_R,
            "right_vectors": self.right_NDR,
            "residuals": self.residuals_R,
            "kappa_caps": self.kappa_caps_R,
            "token_energy": self.energy_N,
            "importance": self.importance_N,
            "block_norms": self.block_norms_N,
            "block_norms_stderr": self.block_norms_stderr_N,
        }
        if self.density is not None:
            found |= {"density_values": self.density.values, "density_counts": self.density.counts}
        return {name: array for name, array in found.items() if array is not None}

    def to_json(self) -> dict[str, Any]:
        """Return all but the right vectors as plain JSON; those are in :meth:`arrays`."""
        lists = {name: array.tolist() for name, array in self.arrays().items() if name != "right_vectors"}
        return {
            "recipe": self.recipe,
            "shape": list(self.shape),
            "rank_asked": self.rank_asked,
            "rank": self.rank,
            "num_tokens": self.num_tokens,
            "num_prefix": self.num_prefix,
            "kappa": None if self.kappa is None else self.kappa.to_json(),
            "norm": self.norm.to_json(),
            "norm_stderr": self.norm_stderr,
            "variation": self.variation.to_json(),
            "variation_weighted": self.variation_weighted.to_json(),
            "effective_ranks": self.ranks.to_json(),
            "regime": self.regime.to_json(),
            "advice": self.advice,
            "products": self.products.to_json(),
            **lists,
        }
