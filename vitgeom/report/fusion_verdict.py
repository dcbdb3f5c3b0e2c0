"""The answer in words: does one classifier on all layers beat the best layer, and stacking?

Told apart means that the paired 95 % interval of the difference does not hold zero.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence

from vitgeom.bootstrap import Interval
from vitgeom.report.fused_pair import FusedPair, MethodRow
from vitgeom.report.numbers import counted, percent, points
from vitgeom.report.verdict import spelled

FUSED, SIGNIFICANT = "vfusion", 0.05
RIVALS: tuple[tuple[tuple[str, ...], str], ...] = (
    (("best_layer",), "the best layer"),
    (("stacking",), "logistic stacking"),
    (("super_learner",), "the Super Learner"),
)
"""Names of methods, the first that is there counts, and what a sentence calls them."""


class FusionAnswer(enum.Enum):
    """What a pair says to one rival of fusing."""

    BETTER = "better"
    SAME = "not told apart"
    WORSE = "worse"
    UNKNOWN = "not compared"


def answer_to(pair: FusedPair, names: Sequence[str]) -> FusionAnswer:
    """Return whether VFusion beats a rival.

    Args:
        pair: The comparison.
        names: Of the rival; the first that is there counts.
    """
    gain = _gain(pair, names)
    if gain is None:
        return FusionAnswer.UNKNOWN
    if gain.low > 0:
        return FusionAnswer.BETTER
    return FusionAnswer.WORSE if gain.high < 0 else FusionAnswer.SAME


def fusion_sentence(pair: FusedPair) -> str:
    """Return in one sentence whether fusing beats the best layer, logistic stacking and the Super Learner.

    Args:
        pair: The comparison.
    """
    if pair.comparison.reference != FUSED:
        return f"VFusion has no result here, so it is compared with nothing; differences are to {pair.reference.title}."
    fused = pair.reference.score
    parts = [_against(pair, names, words) for names, words in RIVALS]
    known = [part for part in parts if part]
    against = f": {'; '.join(known)}" if known else ""
    closed = "" if fused.gap_closure is None else _closed(fused.gap_closure)
    return f"One classifier on all layers gets {spelled(fused.accuracy)}{against}.{closed}"


def horizontal_sentence(pair: FusedPair) -> str:
    """Return in one sentence what the last layers of several backbones reach together, and how far that is from each alone.

    Args:
        pair: The comparison over several backbones.
    """
    differences = [
        f"{row.title}, {points(-span.value)} (95 % interval {points(-span.high)} to {points(-span.low)})"
        for row in pair.methods
        if (span := row.score.difference) is not None
    ]
    fused = pair.reference
    return f"{fused.title} on all backbones at once gets {spelled(fused.score.accuracy)}; difference to {'; to '.join(differences)}."


def fusion_headline(pairs: Sequence[FusedPair]) -> str:
    """Return the answer over all pairs in one sentence.

    Args:
        pairs: All comparisons.
    """
    if not pairs:
        return "No comparison of methods finished."
    told = []
    for names, words in RIVALS:
        answers = [answer_to(pair, names) for pair in pairs]
        counts = [f"{kind.value} in {answers.count(kind)}" for kind in FusionAnswer if kind in answers]
        told.append(f"against {words} {', '.join(counts)}")
    return f"One classifier on all layers (VFusion), over {counted(len(pairs), 'pair')} of dataset and backbone: {'; '.join(told)}."


def _against(pair: FusedPair, names: Sequence[str], words: str) -> str | None:
    rival, gain = _rival(pair, names), _gain(pair, names)
    if rival is None or gain is None:
        return None
    kind = answer_to(pair, names)
    verdict = {
        FusionAnswer.BETTER: f"it beats {words}",
        FusionAnswer.SAME: f"it is not told apart from {words}",
        FusionAnswer.WORSE: f"it falls behind {words}",
    }[kind]
    p = _tested(rival.score.mcnemar_p, told_apart=kind is not FusionAnswer.SAME)
    return (
        f"{verdict} ({percent(rival.score.accuracy.value)}, difference {points(gain.value)}, 95 % interval {points(gain.low)} to "
        f"{points(gain.high)}{p})"
    )


def _tested(p: float | None, *, told_apart: bool) -> str:
    """Return the p-value; the interval is of all seeds, the test of the first one, so the two can disagree."""
    if p is None:
        return ""
    if told_apart and p >= SIGNIFICANT:
        return f"; McNemar's test, of the first seed alone, does not tell them apart, p = {p:.2g}"
    return f"; McNemar p = {p:.2g}"


def _closed(share: float) -> str:
    if share < 0:
        return " It closes none of the gap between the best layer and the oracle."
    return f" It closes {percent(share)} of the gap between the best layer and the oracle."


def _rival(pair: FusedPair, names: Sequence[str]) -> MethodRow | None:
    rows = (pair.method(name) for name in names)
    return next((row for row in rows if row is not None), None)


def _gain(pair: FusedPair, names: Sequence[str]) -> Interval | None:
    """Return accuracy of VFusion minus that of the rival; the table holds the opposite."""
    rival = _rival(pair, names)
    if pair.comparison.reference != FUSED or rival is None or rival.score.difference is None:
        return None
    span = rival.score.difference
    return Interval(-span.value, -span.high, -span.low)
