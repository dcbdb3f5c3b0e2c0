"""Whether a model ranks patches as the exact metric does, in words that tell a weak model from a noisy target and from truncation."""

from __future__ import annotations

from vitgeom.report.averaged import Averaged
from vitgeom.report.learnt_decoder import (
    CONSTANT,
    HEAD,
    NETWORK,
    RANKED,
    UNTRUNCATED,
    LearntDecoder,
    title_of,
)
from vitgeom.report.learnt_rules import is_ahead, is_behind, is_clear, is_near, spelled_mean
from vitgeom.report.numbers import counted
from vitgeom.report.statement import Statement

NAMES = {RANKED: "importance", UNTRUNCATED: "block norms"}
CLEARER = "More products per target come before a better model."


def importance_statements(one: LearntDecoder) -> list[Statement]:
    """Return what each model's importance and truncation come to, and which of head and network is better.

    Args:
        one: A decoder at a layer.
    """
    told = [importance_statement(one, learner) for learner in one.learners]
    better = [better_statement(one)] if {HEAD, NETWORK} <= set(one.learners) else []
    return [*told, *better, truncation_statement(one)]


def importance_statement(one: LearntDecoder, learner: str) -> Statement:
    """Return what limits one model, its rho beside the agreement of two estimates, and what no learning reaches.

    Args:
        one: A decoder at a layer.
        learner: The model.
    """
    found, ceiling = one.rho(learner), one.ceiling[RANKED]
    title = f"{title_of(learner)[0].upper()}{title_of(learner)[1:]}"
    if found is None:
        return Statement(
            f"{title}: nothing to rank.", "On no image do patches differ in importance, so ρ is undefined."
        )
    advice = CLEARER if ceiling is not None and not is_clear(ceiling) else ""
    parts = (
        f"It ranks patches like the exact importance to ρ = {spelled_mean(found)} (n = {counted(found.images, 'test image')}); two estimates of that "
        f"target agree to {spelled_mean(ceiling)}.",
        advice,
        _without_learning(one, learner),
    )
    verdict = _limit(found, ceiling)
    if ceiling is not None and is_near(found, ceiling):
        verdict += _against_one_map(one, learner)
    return Statement(f"{title}: {verdict}.", " ".join(part for part in parts if part))


def truncation_statement(one: LearntDecoder) -> Statement:
    """Return how far the importance from R directions ranks patches as the untruncated block norms do, and what the models reach there.

    Args:
        one: A decoder at a layer.
    """
    found = one.truncation
    if found is None:
        return Statement("Truncation: undefined, as no image has patches that differ.")
    few = f"{counted(one.rank, 'direction')} {'is' if one.rank == 1 else 'are'}"
    verdict = (
        "enough to rank patches"
        if is_clear(found)
        else "too few to rank patches as the whole derivative does"
    )
    against = [
        f"{title_of(learner)} {spelled_mean(one.rho(learner, UNTRUNCATED))}" for learner in one.learners
    ]
    models = (
        f" Against these norms: {'; '.join(against)}; two estimates of them {spelled_mean(one.ceiling[UNTRUNCATED])}."
        if against
        else ""
    )
    return Statement(
        f"Truncation: {few} {verdict}.",
        f"The exact importance itself ranks patches like exact block norms, which leave nothing out, to {spelled_mean(found)}.{models}",
    )


def better_statement(one: LearntDecoder) -> Statement:
    """Return which of head and network gives the better importance, by both targets.

    Args:
        one: A decoder at a layer with both.
    """
    verdicts = {target: _better(one, target) for target in NAMES}
    numbers = "; ".join(
        f"{name}: head {spelled_mean(one.rho(HEAD, target))}, network {spelled_mean(one.rho(NETWORK, target))}"
        for target, name in NAMES.items()
    )
    if len(set(verdicts.values())) == 1:
        verdict = f"{verdicts[RANKED]}, by both targets"
    else:
        verdict = "; ".join(f"by {NAMES[target]} {told}" for target, told in verdicts.items())
    return Statement(f"Head or network: {verdict}.", f"ρ with exact {numbers}.")


def _better(one: LearntDecoder, target: str) -> str:
    lead = one.lead(HEAD, NETWORK, target)
    if lead is None:
        return "neither, as ρ is undefined"
    if is_ahead(lead):
        return "the head gives the better importance"
    if is_behind(lead):
        return "the network gives the better importance"
    return "the two are not told apart"


def _limit(found: Averaged, ceiling: Averaged | None) -> str:
    """Return what keeps rho from 1: the model, the noise of its target, or both."""
    if ceiling is None:
        return "what limits it is unknown, as no two estimates of its target can be compared"
    if ceiling.mean.low <= 0:
        return "it cannot be judged, as two estimates of its target do not agree beyond chance"
    if found.mean.low <= 0:
        return f"NOT beyond chance{_clarity(ceiling)}"
    if is_near(found, ceiling):
        return (
            "near the most that can be asked"
            if is_clear(ceiling)
            else "as good as its target allows, but the target is noisy"
        )
    return f"weaker than its target allows{_clarity(ceiling)}"


def _clarity(ceiling: Averaged) -> str:
    return (
        "; the target is clear, so the model is what is weak"
        if is_clear(ceiling)
        else ", and the target is noisy, too"
    )


def _against_one_map(one: LearntDecoder, learner: str) -> str:
    """Return "" where a model beats what knows no image; a high rho alone may be no more than that."""
    lead = one.lead(learner, CONSTANT)
    if lead is None or is_ahead(lead):
        return ""
    return f", but {CONSTANT} is {'BETTER' if is_behind(lead) else 'not told apart from it'}"


def _without_learning(one: LearntDecoder, learner: str) -> str:
    """Return the best score that nobody has to learn, and whether learning was worth it."""
    known = {name: score for name in one.plain if (score := one.rho(name)) is not None}
    if not known:
        return ""
    name = max(known, key=lambda each: known[each].mean.value)
    lead = one.lead(learner, name)
    if lead is not None and is_ahead(lead):
        verdict = "learning beats it"
    elif lead is not None and is_behind(lead):
        verdict = "BETTER than what was learnt"
    else:
        verdict = "learning is not told apart from it"
    told = f" (on the same images {spelled_mean(lead)} apart)" if lead is not None else ""
    return f"Without learning, {title_of(name)} reaches {spelled_mean(known[name])}: {verdict}{told}."
