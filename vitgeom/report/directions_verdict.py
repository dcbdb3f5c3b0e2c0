"""What decoders react to, in words."""

from __future__ import annotations

from collections.abc import Sequence

from vitgeom.report.directed_decoder import DecoderDirections
from vitgeom.report.directed_pair import DirectedPair
from vitgeom.report.numbers import between, percent, significant
from vitgeom.report.verdict import spelled
from vitgeom.spectra.advice import NEXT_STEP

REGIMES = {
    "structural": "fixed by construction",
    "token_local": "some tokens far above others",
    "low_rank_delocalised": "few directions, spread over tokens",
    "high_rank": "many directions",
    "undefined": "no reaction",
}


def directions_headline(pairs: Sequence[DirectedPair]) -> str:
    """Return in a few sentences how many decoders and layers fall into each regime, and whether all bounds hold.

    Args:
        pairs: All that were diagnosed.
    """
    decoders = [one for pair in pairs for one in pair.decoders]
    if not decoders:
        return "No decoder was diagnosed."
    counts = [
        f"{words} in {sum(one.regime == name for one in decoders)}"
        for name, words in REGIMES.items()
        if any(one.regime == name for one in decoders)
    ]
    where = f"on {len(pairs)} pair{'s' if len(pairs) > 1 else ''} of dataset and backbone"
    several = f"{len(decoders)} decoder{'s' if len(decoders) > 1 else ''} and layers {where}"
    return f"What the output depends on, over {several}: {'; '.join(counts)}. {bounds_sentence(pairs)}"


def bounds_sentence(pairs: Sequence[DirectedPair]) -> str:
    """Return in one sentence whether the bounds of the theory hold on every image.

    Args:
        pairs: All that were diagnosed.
    """
    checked = sum(bound.images for pair in pairs for one in pair.decoders for bound in one.bounds)
    broken = [f"{pair.label}: {words}" for pair in pairs for words in pair.violations]
    if broken:
        return f"A BOUND DOES NOT HOLD, which is a defect of the program and not of the data: {'; '.join(broken)}."
    return (
        f"All bounds of the theory hold ({checked:,} checks)."
        if checked
        else "No bound of the theory was checked."
    )


def decoder_sentence(one: DecoderDirections) -> str:
    """Return how much few directions hold, how they lie over tokens, and what chance would give.

    Args:
        one: A decoder at a layer.
    """
    kappa = one.value("kappa")
    if kappa is None:
        return f"On none of {_images(one)} does the output react to these features at all."
    count = f"{one.found} direction{'s' if one.found != 1 else ''}"
    if one.outputs <= one.rank:
        held = f"There are no more outputs than directions, so {count} hold everything by construction (n = {_images(one)})."
    else:
        held = (
            f"{count} hold {spelled(kappa)} of what the output reacts to (n = {_images(one)}); a flat spectrum would give "
            f"{percent(one.flat)}."
        )
    patches, everywhere = one.value("variation_patches"), one.value("variation")
    if patches is None:
        return held
    told = f" Their energy varies over patches by {between(patches.value, patches.low, patches.high)} of its mean"
    if everywhere is not None and everywhere != patches:
        told += f", with prefix tokens by {between(everywhere.value, everywhere.low, everywhere.high)}"
    return f"{held}{told}; random directions: {significant(one.scatter)}."


def regime_words(one: DecoderDirections) -> str:
    """Return the commonest regime, on how many images it holds, and how sure it is.

    Args:
        one: A decoder at a layer.
    """
    told = f"{REGIMES[one.regime]}: {one.regimes[one.regime]} of {_images(one)}"
    return told + (f"; {one.close} close to a border" if one.close else "")


def next_steps(decoders: Sequence[DecoderDirections]) -> list[tuple[str, str, str]]:
    """Return (regime in words, which decoders and layers, what follows from it) for each regime that occurs.

    Args:
        decoders: At least one.
    """
    return [
        (words, ", ".join(one.label for one in decoders if one.regime == name), NEXT_STEP[name])  # type: ignore[index]
        for name, words in REGIMES.items()
        if any(one.regime == name for one in decoders)
    ]


def _images(one: DecoderDirections) -> str:
    return f"{one.images:,} image{'s' if one.images != 1 else ''}"
