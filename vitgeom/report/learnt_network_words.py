"""Whether the network's directions are those that the decoder reacts to, and which rank is worth its weights, in words."""

from __future__ import annotations

from vitgeom.report.averaged import Averaged
from vitgeom.report.learnt_alignment import Alignment
from vitgeom.report.learnt_decoder import LearntDecoder
from vitgeom.report.learnt_ranks import RankTrial
from vitgeom.report.learnt_rules import is_ahead, is_behind, is_near, spelled_mean
from vitgeom.report.numbers import counted, percent, significant
from vitgeom.report.statement import Statement


def alignment_statement(found: Alignment, *, rank: int, of: str = "Directions") -> Statement:
    """Return whether V1 beats what knows no image and comes near its ceiling, with all of these and chance.

    Args:
        found: How well a network's directions are the exact ones.
        rank: How many there are.
        of: Whose directions they are, as the first words of the statement.
    """
    if found.learnt is None:
        return Statement(f"{of}: V1 is undefined, as no image has any.")
    return Statement(
        f"{of}: {_against_constant(found.lead)}; {_against_ceiling(found.learnt, found.ceiling)}.",
        f"The network's {rank} hold V1 = {spelled_mean(found.learnt)} of the exact subspace (n = {counted(found.learnt.images, 'test image')}); two "
        f"estimates of that agree to {spelled_mean(found.ceiling)}, the best subspace that knows no image reaches {spelled_mean(found.constant)}, a random "
        f"one {significant(found.chance)}.",
    )


def ranks_statement(one: LearntDecoder) -> Statement:
    """Return which rank captures most, and which lower one nearly as much.

    Args:
        one: A decoder at a layer, with a sweep over ranks.
    """
    sweep = one.ranks
    assert sweep is not None, "only a decoder with a sweep over ranks has a best rank"
    most, enough = sweep.most, sweep.enough
    if most is None or enough is None:
        return Statement(f"Ranks: none of {counted(len(sweep.trials), 'trial')} has a result.")
    less = (
        "and no lower one nine tenths of that"
        if enough == most
        else f"and rank {enough.rank} nine tenths of that or more"
    )
    told = [most] if enough == most else [most, enough]
    return Statement(
        f"Ranks: rank {most.rank} captures most, {less}.",
        f"{counted(len(sweep.trials), 'trial')}, judged on validation images: {'; '.join(map(_captured, told))}.",
    )


def _captured(trial: RankTrial) -> str:
    most = (
        ""
        if trial.ceiling is None
        else f" of the {percent(trial.ceiling)} that any {trial.rank} directions hold"
    )
    weights = "" if trial.parameters is None else f", with {trial.parameters:,} parameters"
    return f"rank {trial.rank} at width {trial.hidden} captures {percent(trial.captured)} of the sensitivity{most}{weights}"


def _against_constant(lead: Averaged | None) -> str:
    if lead is None:
        return "whether one subspace for all images would do as well is undefined"
    if is_ahead(lead):
        return "the network beats one subspace for all images, so it has learnt something of the single image"
    if is_behind(lead):
        return "the network is WORSE than one subspace for all images, which needs no network"
    return "the network does NOT beat one subspace for all images, so nothing shows that it looks at the single image"


def _against_ceiling(learnt: Averaged, ceiling: Averaged | None) -> str:
    if ceiling is None or ceiling.mean.value <= 0:
        return "its ceiling is undefined"
    share = percent(learnt.mean.value / ceiling.mean.value)
    return f"it {'comes' if is_near(learnt, ceiling) else 'does not come'} near its ceiling ({share} of it)"
