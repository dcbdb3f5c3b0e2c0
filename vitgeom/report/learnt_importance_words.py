"""Whether a model ranks patches as the exact metric does, in words that tell a weak model from a noisy target and from truncation."""

from __future__ import annotations

from vitgeom.report.averaged import Averaged
from vitgeom.report.learnt_decoder import (
    HEAD,
    NETWORK,
    RANKED,
    UNTRUNCATED,
    LearntDecoder,
    title_of,
)
from vitgeom.report.learnt_rules import CLEAR, is_beyond, is_clear, is_near, spelled_mean
from vitgeom.report.numbers import counted, significant

NAMES = {RANKED: "importance", UNTRUNCATED: "block norms"}


def importance_sentences(one: LearntDecoder) -> list[str]:
    """Return what each model's importance, truncation, and scores that need no learning come to.

    Args:
        one: A decoder at a layer.
    """
    sentences = [importance_sentence(one, learner) for learner in one.learners]
    better = [better_sentence(one)] if {HEAD, NETWORK} <= set(one.learners) else []
    return [*sentences, *better, truncation_sentence(one)]


def importance_sentence(one: LearntDecoder, learner: str) -> str:
    """Return rho of one model beside the agreement of two estimates, what limits it, and what no learning reaches.

    Args:
        one: A decoder at a layer.
        learner: The model.
    """
    found, ceiling = one.rho(learner), one.ceiling[RANKED]
    title = f"{title_of(learner)[0].upper()}{title_of(learner)[1:]}"
    if found is None:
        return f"{title}: on no image do patches differ in importance, so there is nothing to rank."
    return (
        f"{title}: it ranks patches like the exact importance to ρ = {spelled_mean(found)} "
        f"(n = {counted(found.images, 'test image')}); two estimates of that agree to {spelled_mean(ceiling)}. "
        f"{_limit(found, ceiling)}{_without_learning(one, found)}"
    )


def truncation_sentence(one: LearntDecoder) -> str:
    """Return how far the importance from R directions ranks patches as the untruncated block norms do, and what the models reach there.

    Args:
        one: A decoder at a layer.
    """
    found = one.truncation
    if found is None:
        return "Truncation: undefined, as no image has patches that differ."
    few = f"{counted(one.rank, 'direction')} {'is' if one.rank == 1 else 'are'}"
    effect = (
        f"so {few} enough to rank patches"
        if is_clear(found)
        else f"so {few} too few to rank patches as the whole derivative does, whatever is learnt of them"
    )
    against = [
        f"{title_of(learner)} {spelled_mean(one.rho(learner, UNTRUNCATED))}" for learner in one.learners
    ]
    models = (
        f" Against these norms themselves: {'; '.join(against)}; two estimates {spelled_mean(one.ceiling[UNTRUNCATED])}."
        if against
        else ""
    )
    return f"Truncation: the exact importance itself ranks patches like block norms, which leave nothing out, to {spelled_mean(found)}, {effect}.{models}"


def better_sentence(one: LearntDecoder) -> str:
    """Return which of head and network gives the better importance, on both targets.

    Args:
        one: A decoder at a layer with both.
    """
    verdicts = {target: _better(one, target) for target in NAMES}
    if len(set(verdicts.values())) == 1:
        return f"Head or network: {verdicts[RANKED]}, by both targets."
    told = (f"by {NAMES[target]} {verdict}" for target, verdict in verdicts.items())
    return f"Head or network: {'; '.join(told)}."


def _better(one: LearntDecoder, target: str) -> str:
    head, network = one.rho(HEAD, target), one.rho(NETWORK, target)
    if head is None or network is None:
        return "neither can be told better, as rho is undefined"
    if is_beyond(head, network):
        return "the importance head gives the better importance"
    if is_beyond(network, head):
        return "the network gives the better importance"
    return "the two are not told apart"


def _limit(found: Averaged, ceiling: Averaged | None) -> str:
    """Return what keeps rho from 1: the model, the noise of its target, or both."""
    if ceiling is None:
        return "How far two estimates agree is undefined, so what limits it is unknown."
    if ceiling.mean.low <= 0:
        return (
            "Two estimates of the target do not agree beyond chance: no model can be judged by it. "
            "More products per target come first."
        )
    gap = significant(ceiling.mean.value - found.mean.value)
    if found.mean.low <= 0:
        blame = (
            "the target is clear, so the model is weak" if is_clear(ceiling) else "the target is noisy, too"
        )
        return f"That is NOT told apart from no agreement at all: {blame}."
    if is_near(found, ceiling):
        return (
            "That is near the most that can be asked."
            if is_clear(ceiling)
            else f"The model does what its target allows, but the target is noisy (below {CLEAR:g}): more products per target come before a better model."
        )
    if is_clear(ceiling):
        return f"The target is clear, so the gap of {gap} is the model's: it is weaker than it could be."
    return f"Both fall short: the target is noisy (below {CLEAR:g}), and the model stays {gap} below what it allows."


def _without_learning(one: LearntDecoder, found: Averaged) -> str:
    """Return the best score that nobody has to learn, and whether learning was worth it."""
    known = {name: score for name in one.plain if (score := one.rho(name)) is not None}
    if not known:
        return ""
    name = max(known, key=lambda each: known[each].mean.value)
    if is_beyond(found, known[name]):
        verdict = "learning beats it"
    elif is_beyond(known[name], found):
        verdict = "which is BETTER than what was learnt"
    else:
        verdict = "learning is not told apart from it"
    return f" Without learning, {title_of(name)} reaches {spelled_mean(known[name])}: {verdict}."
