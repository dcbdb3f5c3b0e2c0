"""Which model a regime asks for (B7 of the methods): what is cheap where little suffices, what is needed where it does not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from vitgeom.errors import InvalidInput, UnknownName

IMPORTANCE, SPN, BOTTLENECK = "importance", "spn", "bottleneck"
LEARNERS = (IMPORTANCE, SPN, BOTTLENECK)

FOR_REGIME: Mapping[str, tuple[str, ...]] = {
    "structural": (),
    "token_local": (IMPORTANCE,),
    "low_rank_delocalised": (SPN,),
    "high_rank": (BOTTLENECK,),
    "undefined": (),
}
WHY: Mapping[str, str] = {
    "structural": "there are no more outputs than directions asked for: the exact metric costs no more than a learnt one, and nothing is trained",
    "token_local": "some tokens matter far more than others: one score per token says which, so an importance head is trained",
    "low_rank_delocalised": "a few directions spread over all tokens carry the task, which no score per token can say: a Spectral Pullback Network is trained",
    "high_rank": "neither few tokens nor few directions carry the task: a bottleneck is put in front of the decoder, and the metric is learnt behind it",
    "undefined": "the output does not depend on these tokens: there is nothing to learn",
}


@dataclass(frozen=True)
class Choice:
    """What is trained for one decoder, and why.

    Attributes:
        regime: The commonest among the images.
        counts: How many images are in which.
        learners: What is trained, in the order of ``LEARNERS``.
        asked: Whether that was asked for, whatever the regime.
        why: In words.
    """

    regime: str
    counts: Mapping[str, int]
    learners: tuple[str, ...]
    asked: bool
    why: str

    def to_json(self) -> dict[str, Any]:
        """Return all fields by name."""
        return {**asdict(self), "learners": list(self.learners)}


def choose(regimes: Mapping[str, int], *, has_head: bool, asked: Sequence[str] | None = None) -> Choice:
    """Return what to train for a decoder.

    Args:
        regimes: How many images are in which regime; ties go to the first in the order of ``FOR_REGIME``.
        has_head: Whether the decoder is a head on tapped layers. A bottleneck sits between taps and head; without a head a network is trained instead.
        asked: Models that are trained whatever the regime; None lets the regime decide.

    Raises:
        InvalidInput: No images.
        UnknownName: A regime or a model that there is not.
    """
    for name in regimes:
        if name not in FOR_REGIME:
            raise UnknownName("regime", name, FOR_REGIME)
    for name in asked or ():
        if name not in LEARNERS:
            raise UnknownName("model", name, LEARNERS)
    if not any(regimes.values()):
        raise InvalidInput("regimes must count at least one image, got none.")
    regime = max(FOR_REGIME, key=lambda name: regimes.get(name, 0))
    learners = FOR_REGIME[regime] if asked is None else tuple(name for name in LEARNERS if name in asked)
    why = f"{regime}: {WHY[regime]}."
    if asked is not None and set(learners) != set(FOR_REGIME[regime]):
        why += f" Asked for instead: {', '.join(learners)}."
    if BOTTLENECK in learners and not has_head:
        learners = tuple(
            name for name in LEARNERS if (name in learners and name != BOTTLENECK) or name == SPN
        )
        why += " A bottleneck sits between tapped layers and a head, and this decoder has no head: a network is trained on the tokens as they are."
    return Choice(regime, dict(regimes), learners, asked is not None, why)
