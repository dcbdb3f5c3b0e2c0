"""What was learnt of decoders, in words: what was chosen and why, then what it came to."""

from __future__ import annotations

from collections.abc import Sequence

from vitgeom.report.directions_verdict import REGIMES
from vitgeom.report.learnt_bottleneck_words import bottleneck_statement, lowers_rank
from vitgeom.report.learnt_decoder import BOTTLENECK, CONSTANT, HEAD, RANKED, LearntDecoder, title_of
from vitgeom.report.learnt_importance_words import importance_statements
from vitgeom.report.learnt_network_words import alignment_statement, ranks_statement
from vitgeom.report.learnt_pair import LearntPair
from vitgeom.report.learnt_rules import is_ahead, is_near
from vitgeom.report.numbers import counted
from vitgeom.report.statement import Statement
from vitgeom.report.verdict import enumerate_words


def learnt_headline(pairs: Sequence[LearntPair]) -> str:
    """Return in a few sentences for how many decoders models were trained, and how many of these hold what they promise.

    Args:
        pairs: All of which something was to be learnt.
    """
    decoders = [one for pair in pairs for one in pair.decoders]
    if not decoders:
        return "No metric was learnt."
    trained = sum(bool(one.models) or one.bottleneck is not None for one in decoders)
    pairs_told = "one pair" if len(pairs) == 1 else f"{len(pairs)} pairs"
    told = [
        f"Models were trained for {trained} of {counted(len(decoders), 'decoder')} (each at one layer, on {pairs_told} of dataset and backbone).",
        _importance_counts(decoders),
        _network_counts(decoders),
        _bottleneck_counts(decoders),
    ]
    return " ".join(part for part in told if part)


def choice_words(one: LearntDecoder) -> str:
    """Return the commonest regime and on how many validation images it holds.

    Args:
        one: A decoder at a layer.
    """
    images = sum(one.choice.counts.values())
    return f"{REGIMES[one.choice.regime]}: {one.choice.counts.get(one.choice.regime, 0):,} of {counted(images, 'validation image')}"


def choice_statement(one: LearntDecoder) -> Statement:
    """Return what was trained, whether the regime or somebody asked for it, and what follows from the regime.

    Args:
        one: A decoder at a layer.
    """
    choice = one.choice
    # The words of the choice name the regime first, and models as parameters call them; a reader sees the titles of both.
    why = choice.why.removeprefix(f"{choice.regime}: ").partition(" Asked for instead")[0]
    made = [title_of(name) for name in choice.learners if _is_made(one, name)]
    absent = [title_of(name) for name in choice.learners if not _is_made(one, name)]
    source = "asked for, whatever the regime" if choice.asked else "as the regime asks"
    missing = f" Chosen, but without a result: {enumerate_words(absent)}." if absent else ""
    verdict = f"Trained: {enumerate_words(made) if made else 'nothing'}"
    return Statement(
        f"{verdict}, {source}.{missing}" if made or not absent else f"{verdict}.{missing}",
        f"By the regime, {why}",
    )


def _is_made(one: LearntDecoder, learner: str) -> bool:
    return learner in one.models or (learner == BOTTLENECK and one.bottleneck is not None)


def learnt_statements(one: LearntDecoder) -> list[Statement]:
    """Return what was learnt of one decoder, one statement or more per question.

    Args:
        one: A decoder at a layer.
    """
    told = [choice_statement(one), *importance_statements(one)]
    if one.alignment is not None:
        told.append(alignment_statement(one.alignment, rank=one.rank))
    if one.ranks is not None:
        told.append(ranks_statement(one))
    if one.bottleneck is not None:
        told.append(bottleneck_statement(one.bottleneck))
        if one.bottleneck.behind is not None:
            behind = one.bottleneck.behind
            told.append(
                alignment_statement(behind.alignment, rank=behind.rank, of="Directions among the latents")
            )
    return told


def _importance_counts(decoders: Sequence[LearntDecoder]) -> str:
    both = [(one.rho(HEAD), one.ceiling[RANKED]) for one in decoders if HEAD in one.scores]
    near = sum(
        found is not None and ceiling is not None and is_near(found, ceiling) for found, ceiling in both
    )
    leads = [one.lead(HEAD, CONSTANT) for one in decoders if HEAD in one.scores]
    beats = sum(lead is not None and is_ahead(lead) for lead in leads)
    return (
        f"The importance head ranks patches near its ceiling in {near} of {len(both)} and beats one map for all images in {beats}."
        if both
        else ""
    )


def _network_counts(decoders: Sequence[LearntDecoder]) -> str:
    found = [one.alignment for one in decoders if one.alignment is not None]
    found += [each.behind.alignment for one in decoders if (each := one.bottleneck) and each.behind]
    if not found:
        return ""
    beats = sum(each.lead is not None and is_ahead(each.lead) for each in found)
    near = sum(
        each.learnt is not None and each.ceiling is not None and is_near(each.learnt, each.ceiling)
        for each in found
    )
    return f"The network's directions beat one subspace for all images in {beats} of {len(found)} and come near their ceiling in {near}."


def _bottleneck_counts(decoders: Sequence[LearntDecoder]) -> str:
    found = [one.bottleneck for one in decoders if one.bottleneck is not None]
    return (
        f"The bottleneck lowers the effective rank in {sum(map(lowers_rank, found))} of {len(found)}."
        if found
        else ""
    )
