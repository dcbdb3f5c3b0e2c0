"""Whether the network's directions are those that the decoder reacts to, and which rank is worth its weights, in words."""

from __future__ import annotations

from vitgeom.report.averaged import Averaged
from vitgeom.report.learnt_decoder import Alignment, LearntDecoder
from vitgeom.report.learnt_ranks import RankSweep
from vitgeom.report.learnt_rules import is_beyond, is_near, spelled_mean
from vitgeom.report.numbers import counted, percent, significant


def alignment_sentence(one: LearntDecoder) -> str:
    """Return V1 beside its ceiling, what knows no image, and chance, and whether it comes near the one and beats the other.

    Args:
        one: A decoder at a layer, with a network.
    """
    found = one.alignment
    assert found is not None, "only a decoder with a network has an alignment"
    if found.learnt is None:
        return "Directions: V1 is undefined, as no image has any."
    told = (
        f"Directions: the network's {one.rank} hold V1 = {spelled_mean(found.learnt)} of the exact ones' "
        f"(n = {counted(found.learnt.images, 'test image')}); two estimates agree to {spelled_mean(found.ceiling)}, the best subspace that knows no image "
        f"reaches {spelled_mean(found.constant)}, a random one {significant(found.chance)}."
    )
    return f"{told} {_judged(found, found.learnt)}"


def ranks_sentence(sweep: RankSweep) -> str:
    """Return how far captured sensitivity rises over the ranks, and which rank and width was best.

    Args:
        sweep: The sweep over ranks.
    """
    tried = sorted({trial.rank for trial in sweep.trials})
    best = sweep.winner
    if best is None or best.captured is None:
        return f"Ranks: none of {counted(len(sweep.trials), 'trial')} has a result."
    span = f"rank {tried[0]}" if len(tried) == 1 else f"ranks {tried[0]} to {tried[-1]}"
    most = (
        ""
        if best.ceiling is None
        else f" of the {percent(best.ceiling)} that any {best.rank} directions hold"
    )
    weights = "" if best.parameters is None else f" with {best.parameters:,} parameters"
    return (
        f"Ranks: of {counted(len(sweep.trials), 'trial')} ({span}), rank {best.rank} at width {best.hidden} is best: on validation images it "
        f"captures {percent(best.captured)} of the sensitivity{most}{weights}."
    )


def _judged(found: Alignment, learnt: Averaged) -> str:
    return f"{_against_constant(learnt, found.constant)} {_against_ceiling(learnt, found.ceiling)}"


def _against_constant(learnt: Averaged, constant: Averaged | None) -> str:
    if constant is None:
        return "Whether one subspace for all images would do as well is undefined."
    if is_beyond(learnt, constant):
        return "It beats one subspace for all images, so it has learnt something of the single image."
    if is_beyond(constant, learnt):
        return "It is WORSE than one subspace for all images, which needs no network."
    return "It does NOT beat one subspace for all images: nothing shows that it looks at the single image."


def _against_ceiling(learnt: Averaged, ceiling: Averaged | None) -> str:
    if ceiling is None or ceiling.mean.value <= 0:
        return "Its ceiling is undefined."
    share = percent(learnt.mean.value / ceiling.mean.value)
    if is_near(learnt, ceiling):
        return f"It comes near its ceiling ({share} of it)."
    return f"It does not come near its ceiling ({share} of it)."
