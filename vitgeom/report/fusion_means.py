"""Means of the comparisons over datasets, with intervals, and the paper's own figures beside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean

from vitgeom.bootstrap import Interval
from vitgeom.fusion.pooled import BEST_LAYER, Pooled, pool
from vitgeom.report.combination import Combination
from vitgeom.report.fused_pair import FusedPair, MethodRow
from vitgeom.report.fusion_verdict import FUSED
from vitgeom.report.numbers import NONE, percent, points, signed_points
from vitgeom.report.verdict import spelled


@dataclass(frozen=True)
class MethodMean:
    """One method over all datasets and backbones.

    Attributes:
        row: The method where it first appears: title, family, backbone passes.
        accuracy: Mean over all pairs; None where the method is missing on one of them, since means over different datasets cannot be
            compared.
        difference: To VFusion, likewise; None for VFusion itself too.
        gap_closed: Share of the way from the chosen layer to the oracle, of mean accuracies.
        by_backbone: Label of a backbone -> mean accuracy over its datasets.
    """

    row: MethodRow
    accuracy: Interval | None
    difference: Interval | None
    gap_closed: Interval | None
    by_backbone: tuple[tuple[str, float | None], ...]

    @property
    def name(self) -> str:
        """Key of the method."""
        return self.row.name


def pooled(pairs: Sequence[FusedPair]) -> Pooled:
    """Return all pairs as one, with as many resamples as each of them has.

    Args:
        pairs: At least one.
    """
    return pool(
        [pair.answers.outcomes(pair.dataset) for pair in pairs],
        seed=0,
        num_resamples=pairs[0].comparison.num_bootstrap,
    )


def method_means(pairs: Sequence[FusedPair], whole: Pooled) -> tuple[MethodMean, ...]:
    """Return the means of every method, in the order in which they first appear.

    Args:
        pairs: At least one.
        whole: All of them, from :func:`pooled`.
    """
    rows: dict[str, MethodRow] = {}
    for pair in pairs:
        for row in pair.methods:
            rows.setdefault(row.name, row)
    backbones = list(dict.fromkeys(pair.backbone for pair in pairs))
    found = []
    for name, row in rows.items():
        everywhere = name in whole.names
        compared = everywhere and FUSED in whole.names and name != FUSED
        found.append(
            MethodMean(
                row,
                accuracy=whole.accuracy(name) if everywhere else None,
                difference=whole.difference(name, FUSED) if compared else None,
                gap_closed=whole.gap_closed(name) if everywhere else None,
                by_backbone=tuple(
                    (backbone, _mean_accuracy([pair for pair in pairs if pair.backbone == backbone], name))
                    for backbone in backbones
                ),
            )
        )
    return tuple(found)


def paper_figures(whole: Pooled, finished: Sequence[Combination]) -> list[tuple[str, str, str]]:
    """Return (what, the paper's figure, ours with its interval) for every figure that the paper states about fusing layers.

    Means are over all pairs; the share of the gap is that of the mean accuracies.

    Args:
        whole: All pairs, from :func:`pooled`.
        finished: The pairs' recoverability.
    """
    recovered = [pair.r_any.value for pair in finished if pair.r_any is not None]
    spread = _spread(recovered) if recovered else NONE
    fused = FUSED in whole.names
    return [
        ("mean accuracy of VFusion", "91.4 %", spelled(whole.accuracy(FUSED) if fused else None)),
        ("VFusion − best layer", "+1.9 points", _difference(whole, FUSED, BEST_LAYER)),
        ("VFusion − Super Learner", "+1.7 points", _difference(whole, FUSED, "super_learner")),
        (
            "gap between best layer and oracle that VFusion closes",
            "45 %",
            spelled(whole.gap_closed(FUSED) if fused else None).replace("-", "−"),
        ),
        ("last half of the layers − all", "−0.3 points", _difference(whole, "vfusion_last_half", FUSED)),
        ("every second layer − all", "−0.9 points", _difference(whole, "vfusion_strided2", FUSED)),
        ("R_any over datasets and backbones", "18 to 76 %", spread),
    ]


def spelled_difference(span: Interval | None, *, missing: str = NONE) -> str:
    """Return a difference of two shares in points with its interval.

    Args:
        span: The difference, or ``None``.
        missing: What to show for ``None``.
    """
    if span is None:
        return missing
    return f"{points(span.value)} ({signed_points(span.low)} to {signed_points(span.high)})"


def _spread(shares: Sequence[float]) -> str:
    """Return the least and the largest share, or the only one."""
    low, high = 100 * min(shares), percent(max(shares))
    return high if len(shares) == 1 else f"{low:.1f} to {high}"


def _mean_accuracy(pairs: Sequence[FusedPair], name: str) -> float | None:
    rows = [pair.method(name) for pair in pairs]
    found = [row.score.accuracy.value for row in rows if row is not None]
    return mean(found) if found and len(found) == len(rows) else None


def _difference(whole: Pooled, one: str, other: str) -> str:
    known = one in whole.names and other in whole.names
    return spelled_difference(whole.difference(one, other) if known else None)
