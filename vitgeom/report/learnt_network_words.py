"""Whether the network's directions are those that the decoder reacts to, and which rank is worth its weights, in words."""

from __future__ import annotations

from vitgeom.report.averaged import Averaged
from vitgeom.report.learnt_decoder import LearntDecoder
from vitgeom.report.learnt_ranks import RankSweep
from vitgeom.report.learnt_rules import is_beyond, is_near, spelled_mean
from vitgeom.report.numbers import counted, percent, significant
from vitgeom.report.statement import Statement


def alignment_statement(one: LearntDecoder) -> Statement:
    """Return whether V1 beats what knows no image and comes near its ceiling, with all of these and chance.

    Args:
        one: A decoder at a layer, with a network.
    """
    found = one.alignment
    assert found is not None, "only a decoder with a network has an alignment"
    if found.learnt is None:
        return Statement("Directions: V1 is undefined, as no image has any.")
    return Statement(
        f"Directions: {_against_constant(found.learnt, found.constant)}; {_against_ceiling(found.learnt, found.ceiling)}.",
        f"The network's {one.rank} hold V1 = {spelled_mean(found.learnt)} of the exact subspace (n = {counted(found.learnt.images, 'test image')}); two "
        f"estimates of that agree to {spelled_mean(found.ceiling)}, the best subspace that knows no image reaches {spelled_mean(found.constant)}, a random "
        f"one {significant(found.chance)}.",
    )


def ranks_statement(one: LearntDecoder) -> Statement:
    """Return which rank and width was best, and what it captures of what can be captured.

    Args:
        one: A decoder at a layer, with a sweep over ranks.
    """
    sweep = one.ranks
    assert sweep is not None, "only a decoder with a sweep over ranks has a best rank"
    best = sweep.winner
    if best is None or best.captured is None:
        return Statement(f"Ranks: none of {counted(len(sweep.trials), 'trial')} has a result.")
    most = (
        ""
        if best.ceiling is None
        else f" of the {percent(best.ceiling)} that any {best.rank} directions hold"
    )
    weights = "" if best.parameters is None else f", with {best.parameters:,} parameters"
    return Statement(
        f"Ranks: rank {best.rank} at width {best.hidden} is the best of {counted(len(sweep.trials), 'trial')}{_span(sweep)}.",
        f"On validation images it captures {percent(best.captured)} of the sensitivity{most}{weights}.",
    )


def _span(sweep: RankSweep) -> str:
    ranks = sorted({trial.rank for trial in sweep.trials})
    return "" if len(ranks) == 1 else f", ranks {ranks[0]} to {ranks[-1]}"


def _against_constant(learnt: Averaged, constant: Averaged | None) -> str:
    if constant is None:
        return "whether one subspace for all images would do as well is undefined"
    if is_beyond(learnt, constant):
        return "the network beats one subspace for all images, so it has learnt something of the single image"
    if is_beyond(constant, learnt):
        return "the network is WORSE than one subspace for all images, which needs no network"
    return "the network does NOT beat one subspace for all images, so nothing shows that it looks at the single image"


def _against_ceiling(learnt: Averaged, ceiling: Averaged | None) -> str:
    if ceiling is None or ceiling.mean.value <= 0:
        return "its ceiling is undefined"
    share = percent(learnt.mean.value / ceiling.mean.value)
    return f"it {'comes' if is_near(learnt, ceiling) else 'does not come'} near its ceiling ({share} of it)"
