"""What another measure of a decoder's output changes, in words."""

from __future__ import annotations

from vitgeom.report.directed_pair import DirectedPair
from vitgeom.report.numbers import significant

PAPER = "The paper has 0.99 for the share and 0.995 for the agreement of ranks."


def metric_sentences(pair: DirectedPair) -> list[str]:
    """Return one sentence per decoder that was diagnosed under an output metric and under the plain one.

    Args:
        pair: What its decoders react to.
    """
    decoders = {one.key: one for one in pair.decoders}
    told = []
    for found in pair.agreements:
        one, plain = decoders[found.key], decoders[found.plain]
        shares = " and ".join(
            significant(None if share is None else share.value)
            for share in (one.value("kappa"), plain.value("kappa"))
        )
        ranks = (
            "no image ranks its tokens"
            if found.rank is None
            else f"both rank tokens alike to {significant(found.rank.value)} (Spearman, 95 % interval {significant(found.rank.low)} to "
            f"{significant(found.rank.high)}, n = {found.images:,} images)"
        )
        told.append(
            f"{one.label[0].upper()}{one.label[1:]}, beside the plain measure: the best directions hold {shares} of the reaction; {ranks}. {PAPER}"
        )
    return told
