"""What a regime means for the next step, in plain words."""

from __future__ import annotations

from vitgeom.spectra.regime import Name, Regime

NEXT_STEP: dict[Name, str] = {
    "structural": (
        "The decoder has no more outputs than directions were asked for, so they capture everything by construction; "
        "that says nothing about the features. Ask for a smaller rank, or look at the exact metric directly."
    ),
    "token_local": (
        "Some patch tokens matter far more than others: an importance score per token says what to keep, "
        "and an importance head can learn it."
    ),
    "low_rank_delocalised": (
        "A few directions carry the task but each runs through many tokens: no score per token can stand in for them. "
        "Learn the directions themselves (subspace prediction network) and reduce tokens by the metric they give."
    ),
    "high_rank": (
        "Neither a few directions nor a few tokens carry the task. A low-rank metric would miss most of it: "
        "put a bottleneck in front of the decoder, which bounds the rank, or raise the rank."
    ),
    "undefined": (
        "The Jacobian is zero at this input: the output does not react to the features at all, so the share that directions capture "
        "is undefined. Check that the decoder is connected to these features and not saturated."
    ),
}
NO_PATCHES = (
    "No patch token carries any of it: all lies on class and register tokens, as behind the last block of a class token. "
    "Which tokens matter is a question for an earlier layer."
)
CLOSE = 0.05


def advice(verdict: Regime, *, rank: int, kappa: float | None, variation: float | None) -> str:
    """Return one paragraph: the figures, what they mean, and how sure the verdict is.

    Args:
        verdict: The regime.
        rank: Directions found.
        kappa: kappa_cap(rank).
        variation: CV of token energy over patches.
    """
    without_patches = variation is None and verdict.name not in ("structural", "undefined")
    step = NO_PATCHES if without_patches else NEXT_STEP[verdict.name]
    parts = [_figures(rank, kappa, variation), step, _as_well(verdict, rank), _close(verdict)]
    return " ".join(part for part in parts if part)


def _figures(rank: int, kappa: float | None, variation: float | None) -> str:
    if kappa is None:
        return ""
    spread = (
        "" if variation is None else f", and their energy varies over patches by {variation:.2f} of its mean"
    )
    return f"{rank} {'directions hold' if rank != 1 else 'direction holds'} {100 * kappa:.3g} % of the sensitivity{spread}."


def _as_well(verdict: Regime, rank: int) -> str:
    """Say where a low rank would do beside what the regime asks for."""
    if verdict.name != "token_local" or verdict.kappa_margin is None or verdict.kappa_margin < 0:
        return ""
    return f"These {rank} directions hold enough by themselves, too: a network that learns them is the other way."


def _close(verdict: Regime) -> str:
    """Name the borders that are near enough to doubt the verdict."""
    if verdict.name in ("structural", "undefined"):
        return ""
    margins = (("captured share", verdict.kappa_margin), ("variation over tokens", verdict.variation_margin))
    near = [name for name, margin in margins if margin is not None and abs(margin) < CLOSE]
    return (
        f"The {' and the '.join(near)} {'is' if len(near) == 1 else 'are'} close to the border: do not lean on this verdict."
        if near
        else ""
    )
