"""From a sketch of the Jacobian to its diagnosis: pure arithmetic, the same for every recipe."""

from __future__ import annotations

from vitgeom.spectra.advice import advice
from vitgeom.spectra.diagnosis import Diagnosis
from vitgeom.spectra.effective_rank import effective_ranks
from vitgeom.spectra.kappa_cap import kappa_caps, kappa_interval, orthonormality
from vitgeom.spectra.regime import Thresholds, regime
from vitgeom.spectra.sketch import Sketch
from vitgeom.spectra.token_energy import importance, token_energy, token_spread
from vitgeom.spectra.token_layout import TokenLayout


def assemble(sketch: Sketch, layout: TokenLayout, *, rank: int, thresholds: Thresholds) -> Diagnosis:
    """Derive every figure of a diagnosis and check what must hold.

    Args:
        sketch: Of J.
        layout: How its columns are tokens.
        rank: r as asked for.
        thresholds: Of the regimes.

    Raises:
        NumericalFailure: kappa_cap is above 1 or the right vectors are not orthonormal.
    """
    orthonormality(sketch.right_NR)
    tokens, found = layout.num_tokens, len(sketch.sigma_R)
    energy = token_energy(sketch.right_NR, tokens)
    weighted = importance(sketch.right_NR, sketch.sigma_R, tokens)
    spread = token_spread(energy, num_prefix=layout.num_prefix)
    kappa = kappa_interval(sketch)
    ranks = effective_ranks(sketch)
    verdict = regime(
        kappa=None if kappa is None else kappa.value,
        variation=spread.patches,
        rank_90=None if ranks.r_90 is None else ranks.r_90.value or float(ranks.r_90.low),
        outputs=sketch.shape[0],
        rank=rank,
        thresholds=thresholds,
    )
    return Diagnosis(
        recipe=sketch.recipe,
        shape=sketch.shape,
        rank_asked=rank,
        num_tokens=tokens,
        num_prefix=layout.num_prefix,
        singular_values_R=sketch.sigma_R,
        right_NDR=sketch.right_NR.reshape(tokens, layout.width, found),
        residuals_R=sketch.residuals_R,
        kappa_caps_R=kappa_caps(sketch),
        kappa=kappa,
        norm=sketch.norm,
        norm_stderr=sketch.stderr,
        energy_N=energy,
        importance_N=weighted,
        block_norms_N=sketch.norms.squared_T.clamp_min(0).sqrt(),
        block_norms_stderr_N=sketch.norms.stderr_T,
        variation=spread,
        variation_weighted=token_spread(weighted**2, num_prefix=layout.num_prefix),
        ranks=ranks,
        density=sketch.density,
        regime=verdict,
        advice=advice(
            verdict, rank=found, kappa=None if kappa is None else kappa.value, variation=spread.patches
        ),
        products=sketch.products,
    )
