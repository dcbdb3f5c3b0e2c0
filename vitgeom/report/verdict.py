"""The answer in words: does an earlier layer know what the last one gets wrong, beyond chance?

A pair says *yes* only if the lower end of the 95 % interval of R_any lies above all three comparisons: uniform guessing,
the upper end of the permutation floor, and the upper end of what as many refits of the last layer recover. With few errors the
intervals are wide and the answer is *no* or *beyond guessing only*: that is a statement about the evidence.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

from vitgeom.bootstrap import Interval
from vitgeom.report.combination import Combination
from vitgeom.report.numbers import percent, points

HOPELESS = 0.95
"""Where guessing recovers more than this, hardly any interval fits above it."""


class Answer(enum.Enum):
    """What one dataset × backbone says to the question."""

    YES = "yes, beyond chance"
    BEYOND_GUESSING = "beyond guessing, not beyond refits"
    NO = "not beyond chance"
    NO_ERRORS = "no errors to recover"
    ONE_LAYER = "one layer only"


@dataclass(frozen=True)
class Comparison:
    """One level that R_any must exceed, and whether it does; a level that was not measured is not exceeded."""

    name: str
    level: Interval | None
    exceeded: bool

    def words(self) -> str:
        """Return name and level, for example ``uniform guessing 65.1 %``."""
        return f"{self.name} {spelled(self.level, missing='(not measured)')}"


def spelled(interval: Interval | None, *, missing: str = "none") -> str:
    """Return ``61.2 % (55.0 to 67.1 %)``; a level without spread is one number.

    Args:
        interval: A share with its interval.
        missing: What to show for ``None``.
    """
    if interval is None:
        return missing
    if interval.low == interval.high == interval.value:
        return percent(interval.value)
    return f"{percent(interval.value)} ({100 * interval.low:.1f} to {percent(interval.high)})"


def comparisons(combination: Combination) -> tuple[Comparison, ...]:
    """Return the levels that R_any is held against; empty where there is no R_any.

    Args:
        combination: The results of one pair.
    """
    if combination.r_any is None:
        return ()
    levels = (
        ("uniform guessing", combination.floor_uniform),
        ("permuted predictions", combination.floor_permutation),
        ("refits of the last layer", combination.refit_control),
    )
    reached = combination.r_any.low
    return tuple(
        Comparison(name, level, level is not None and reached > level.high) for name, level in levels
    )


def answer(combination: Combination) -> Answer:
    """Return what the pair says.

    Args:
        combination: The results of one pair.
    """
    if combination.num_layers == 1:
        return Answer.ONE_LAYER
    if combination.r_any is None:
        return Answer.NO_ERRORS
    missed = [comparison.name for comparison in comparisons(combination) if not comparison.exceeded]
    if not missed:
        return Answer.YES
    return Answer.BEYOND_GUESSING if missed == ["refits of the last layer"] else Answer.NO


def recoverability_sentence(combination: Combination) -> str:
    """Return what earlier layers know of the last one's errors, and what that must be held against.

    Args:
        combination: The results of one pair.
    """
    kind = answer(combination)
    if kind is Answer.ONE_LAYER:
        return "This backbone has one layer, so there is no earlier one to ask."
    if kind is Answer.NO_ERRORS:
        return f"The last layer gets all {combination.num_test:,} test images right: no errors, so nothing to recover."
    assert combination.r_any is not None
    images = "image" if combination.errors == 1 else "images"
    found = (
        f"At least one earlier layer is right on {spelled(combination.r_any)} of the {combination.errors:,} test {images} "
        f"that the last layer gets wrong."
    )
    return f"{found} {_held_against(combination, kind)}"


def _held_against(combination: Combination, kind: Answer) -> str:
    levels = comparisons(combination)
    if kind is Answer.YES:
        return f"This exceeds {enumerate_words([level.words() for level in levels])}."
    missed = enumerate_words([level.words() for level in levels if not level.exceeded])
    if kind is Answer.BEYOND_GUESSING:
        return (
            f"This exceeds guessing, but it does not exceed {missed}: as many new tries from the same layer do as well, so it "
            "is no evidence for knowledge in the depth."
        )
    earlier = combination.num_layers - 1
    guessing = combination.floor_uniform
    if guessing is not None and guessing.value > HOPELESS:
        return (
            f"With {combination.num_classes:,} classes, {earlier} guesses alone recover {spelled(guessing)}, so these images can hardly tell: the "
            f"share would have to lie above {missed}."
        )
    return f"The 95 % interval of this share does not lie above {missed}: {earlier} tries can reach as much by luck."


def best_layer_sentence(combination: Combination) -> str:
    """Return which layer is best by validation and how far it is from the last one on the test split.

    Args:
        combination: The results of one pair.
    """
    best, last = combination.best, combination.layers[-1]
    if combination.num_layers == 1:
        return f"Its test accuracy is {spelled(last.accuracy)}."
    if best.layer == last.layer:
        return f"The last of {last.layer} layers is also the best one by validation: test accuracy {spelled(last.accuracy)}."
    text = (
        f"Best by validation is layer {best.layer} of {last.layer}: test accuracy {spelled(best.accuracy)}, the last layer's is "
        f"{spelled(last.accuracy)}"
    )
    gain = combination.gain
    span = f"{points(gain.value)} (95 % interval {points(gain.low)} to {points(gain.high)}; McNemar p = {combination.mcnemar_p:.2g})"
    verdict = "" if gain.low > 0 or gain.high < 0 else ", not told apart from zero"
    return f"{text}; difference {span}{verdict}."


def enumerate_words(words: list[str]) -> str:
    """Join ``a``, ``a and b``, ``a, b and c``.

    Args:
        words: At least one.
    """
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
