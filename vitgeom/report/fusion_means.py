"""Means of the comparisons over datasets, and the paper's own figures beside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean

from vitgeom.report.combination import Combination
from vitgeom.report.fused_pair import FusedPair
from vitgeom.report.numbers import NONE, percent, points


@dataclass(frozen=True)
class MethodMean:
    """One method over all datasets of a backbone.

    Attributes:
        name: Of the method.
        title: For readers.
        by_backbone: Label of a backbone -> mean accuracy over its datasets; None where the method is missing on one of them, since
            means over different datasets cannot be compared.
    """

    name: str
    title: str
    by_backbone: tuple[tuple[str, float | None], ...]


def method_means(pairs: Sequence[FusedPair]) -> tuple[MethodMean, ...]:
    """Return the mean accuracy of every method by backbone, methods in the order in which they first appear.

    Args:
        pairs: All comparisons.
    """
    titles = {row.name: row.title for pair in pairs for row in pair.methods}
    backbones = list(dict.fromkeys(pair.backbone for pair in pairs))
    return tuple(
        MethodMean(
            name,
            title,
            tuple(
                (backbone, _mean_accuracy([pair for pair in pairs if pair.backbone == backbone], name))
                for backbone in backbones
            ),
        )
        for name, title in titles.items()
    )


def paper_figures(pairs: Sequence[FusedPair], finished: Sequence[Combination]) -> list[tuple[str, str, str]]:
    """Return (what, the paper's figure, ours) for every figure that the paper states about fusing layers.

    Means are over all pairs; the share of the gap is that of the mean accuracies.

    Args:
        pairs: All comparisons.
        finished: The pairs' recoverability.
    """
    fused = _mean_accuracy(pairs, "vfusion")
    recovered = [pair.r_any.value for pair in finished if pair.r_any is not None]
    spread = f"{100 * min(recovered):.0f} to {percent(max(recovered))}" if recovered else NONE
    return [
        ("mean accuracy of VFusion", "91.4 %", percent(fused)),
        ("VFusion − best layer", "+1.9 points", _difference(pairs, "vfusion", "best_layer")),
        ("VFusion − Super Learner", "+1.7 points", _difference(pairs, "vfusion", "super_learner")),
        ("gap between best layer and oracle that VFusion closes", "45 %", _closed(pairs)),
        ("last half of the layers − all", "−0.3 points", _difference(pairs, "vfusion_last_half", "vfusion")),
        ("every second layer − all", "−0.9 points", _difference(pairs, "vfusion_strided2", "vfusion")),
        ("R_any over datasets and backbones", "18 to 76 %", spread),
    ]


def _mean_accuracy(pairs: Sequence[FusedPair], name: str) -> float | None:
    rows = [pair.method(name) for pair in pairs]
    found = [row.score.accuracy.value for row in rows if row is not None]
    return mean(found) if found and len(found) == len(rows) else None


def _difference(pairs: Sequence[FusedPair], one: str, other: str) -> str:
    first, second = _mean_accuracy(pairs, one), _mean_accuracy(pairs, other)
    return NONE if first is None or second is None else points(first - second)


def _closed(pairs: Sequence[FusedPair]) -> str:
    fused = _mean_accuracy(pairs, "vfusion")
    if fused is None:
        return NONE
    best = mean(pair.comparison.best_layer_accuracy for pair in pairs)
    gap = mean(pair.comparison.oracle for pair in pairs) - best
    return NONE if gap <= 0 else percent((fused - best) / gap).replace("-", "−")
