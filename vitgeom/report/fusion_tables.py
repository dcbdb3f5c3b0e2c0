"""The tables of fused layers: every number behind the pictures."""

from __future__ import annotations

from collections.abc import Sequence

from vitgeom.fusion.pooled import Pooled
from vitgeom.report.combination import Combination
from vitgeom.report.fused_pair import FusedPair, MethodRow
from vitgeom.report.fusion_means import method_means, paper_figures, spelled_difference
from vitgeom.report.fusion_verdict import FUSED
from vitgeom.report.markup import Markup, table
from vitgeom.report.numbers import NONE, counted, percent, short_time
from vitgeom.report.verdict import spelled

UNKNOWN = "not recorded"
MISSING = "not on all"
REFERENCE = "reference"
METRIC_UNITS = ("", " k", " M", " G", " T")


def methods(pair: FusedPair) -> Markup:
    """Return one row per method: accuracy, difference to the reference, gap closure, cost; then those that failed.

    Args:
        pair: One comparison.
    """
    reference = pair.reference.title
    header = (
        "method",
        "works on",
        "test accuracy",
        f"difference to {reference}",
        "McNemar p",
        "gap closed",
        "deviation over seeds",
        "parameters",
        "FLOPs per image",
        "time per image",
        "backbone passes",
    )
    rows = [_row(row) for row in pair.methods]
    empty = ("",) * (len(header) - 3)
    rows += [(title, "could not be fitted", error, *empty) for title, error in pair.failures]
    caption = (
        f"{pair.label}: n = {pair.comparison.num_samples:,} test images, 95 % intervals, differences paired; gap closed: share of the way from "
        f"the best layer ({percent(pair.comparison.best_layer_accuracy)}) to the oracle ({percent(pair.comparison.oracle)}); cost is on top of "
        "the backbone."
    )
    return table(header, rows, caption=caption)


def means(pairs: Sequence[FusedPair], whole: Pooled) -> Markup:
    """Return one row per method: mean accuracy over datasets and backbones, difference to VFusion, gap closed, and the means by backbone.

    Args:
        pairs: At least one.
        whole: All of them, from :func:`vitgeom.report.fusion_means.pooled`.
    """
    found = method_means(pairs, whole)
    backbones = [backbone for backbone, _ in found[0].by_backbone]
    rows = [
        (
            entry.row.title,
            entry.row.family,
            spelled(entry.accuracy, missing=MISSING),
            REFERENCE if entry.name == FUSED else spelled_difference(entry.difference, missing=MISSING),
            spelled(entry.gap_closed, missing="no gap").replace("-", "−"),
            *(percent(value, missing=MISSING) for _, value in entry.by_backbone),
            str(entry.row.backbone_passes),
        )
        for entry in found
    ]
    datasets = len({pair.dataset for pair in pairs})
    return table(
        (
            "method",
            "works on",
            "mean accuracy",
            "difference to VFusion",
            "gap closed",
            *(f"on {backbone}" for backbone in backbones),
            "backbone passes",
        ),
        rows,
        caption=(
            f"Ablations: mean test accuracy over {counted(whole.num_pairs, 'pair')} of {counted(datasets, 'dataset')} and "
            f"{counted(len(backbones), 'backbone')}, n = {whole.num_samples:,} test images. 95 % intervals from "
            "resampled test images, the same for all methods and backbones, so differences are paired; they are about these datasets and "
            "backbones, not about others. McNemar p and cost of each pair stand in its own table."
        ),
    )


def paper(whole: Pooled, finished: Sequence[Combination]) -> Markup:
    """Return the paper's figures beside those of this page.

    Args:
        whole: All comparisons, from :func:`vitgeom.report.fusion_means.pooled`.
        finished: The pairs' recoverability.
    """
    return table(
        ("mean over datasets and backbones", "paper", "here"),
        paper_figures(whole, finished),
        caption=(
            f"Paper / here: other datasets and backbones, so the sizes need not agree; signs and order are what can be compared. Here: "
            f"{counted(whole.num_pairs, 'pair')}, n = {whole.num_samples:,} test images, 95 % intervals."
        ),
    )


def count(number: int | None, *, missing: str = NONE) -> str:
    """Return a large count with three digits and a unit of thousands.

    Args:
        number: How many, or ``None``.
        missing: What to show for ``None``.
    """
    if number is None:
        return missing
    amount, unit = float(number), 0
    while amount >= 999.5 and unit < len(METRIC_UNITS) - 1:
        amount, unit = amount / 1000, unit + 1
    return f"{amount:.0f}" if unit == 0 else f"{amount:.3g}{METRIC_UNITS[unit]}"


def _row(row: MethodRow) -> tuple[str, ...]:
    score = row.score
    return (
        row.title,
        row.family,
        spelled(score.accuracy),
        spelled_difference(score.difference, missing=REFERENCE),
        REFERENCE if score.mcnemar_p is None else f"{score.mcnemar_p:.2g}",
        percent(score.gap_closure, missing="no gap").replace("-", "−"),
        "no randomness" if score.seed_deviation is None else f"{100 * score.seed_deviation:.2f} points",
        count(row.parameters, missing=UNKNOWN),
        count(row.flops_per_image, missing=UNKNOWN),
        short_time(row.seconds_per_image, missing=UNKNOWN),
        str(row.backbone_passes),
    )
