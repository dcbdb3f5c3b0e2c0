"""The tables of fused layers under shift: every number behind the pictures."""

from __future__ import annotations

from collections.abc import Mapping

from vitgeom.bootstrap import Interval
from vitgeom.report.markup import Markup, table
from vitgeom.report.numbers import NONE, percent, points, signed_points
from vitgeom.report.shift_figures import FUSED, LAST, advantage
from vitgeom.report.shifted_pair import ShiftedPair, title_of
from vitgeom.report.verdict import spelled

ITSELF = "reference"


def means(pair: ShiftedPair) -> Markup:
    """Return one row per method: accuracy on the test split as it is, its mean over all damage, and how far the others are.

    Args:
        pair: Results under shift with at least one corruption.
    """
    rows = [
        (
            title_of(score.name),
            spelled(pair.clean.get(score.name), missing=NONE),
            spelled(score.accuracy),
            _lost(pair.clean.get(score.name), score.accuracy),
            *(_difference(score.differences, name, own=score.name) for name in (LAST, FUSED)),
        )
        for score in pair.mean
    ]
    return table(
        (
            "method",
            "clean test accuracy",
            "mean corruption accuracy",
            "clean − mean",
            f"difference to {title_of(LAST)}",
            f"difference to {title_of(FUSED)}",
        ),
        rows,
        caption=(
            f"{pair.label}: n = {pair.num_test:,} test images, each under {len(pair.conditions)} kinds of damage ({len(pair.corruptions)} "
            f"corruptions, severity {', '.join(map(str, pair.severities))}); 95 % intervals over images, differences paired. Nothing was "
            "fitted or chosen on damaged images."
        ),
    )


def conditions(pair: ShiftedPair) -> Markup:
    """Return one row per corruption and severity: what VFusion is ahead of the last layer, then one column per method.

    Args:
        pair: Results under shift with at least one corruption.
    """
    names = [score.name for score in pair.mean]
    rows = [
        (
            f"{one.corruption.replace('_', ' ')} {one.severity}",
            _span(advantage(pair, one.corruption, one.severity)),
            *(
                percent(None if (found := one.score(name)) is None else found.accuracy.value)
                for name in names
            ),
        )
        for one in pair.conditions
    ]
    return table(
        (
            "damage and severity",
            f"{title_of(FUSED)} − {title_of(LAST).lower()}",
            *(title_of(name) for name in names),
        ),
        rows,
        caption=(
            f"{pair.label}: test accuracy under each damage, n = {pair.num_test:,} test images, mean over seeds; the difference with its paired "
            "95 % interval."
        ),
    )


def groups(pair: ShiftedPair) -> Markup:
    """Return one row per method: its worst group, the mean over groups, and every group.

    Args:
        pair: Results under shift of a dataset with sub-populations.
    """
    found = pair.subpopulations
    assert found is not None, "only datasets with sub-populations have this table"
    names = list(found.counts)
    rows = [
        (
            title_of(one.name),
            f"{spelled(one.worst)}: {one.worst_group}",
            spelled(one.mean),
            spelled(pair.clean.get(one.name), missing=NONE),
            *(percent(one.per_group[name].value) for name in names),
        )
        for one in found.methods
    ]
    sizes = ", ".join(f"{name} {count:,}" for name, count in found.counts.items())
    left = [f"no image of {name}" for name in found.absent]
    left += [f"{found.without_group:,} images of no group"] if found.without_group else []
    rest = f" Left out: {'; '.join(left)}." if left else ""
    return table(
        ("method", "worst group", "mean over groups", "all test images", *names),
        rows,
        caption=f"{pair.label}: test accuracy by sub-population, 95 % intervals; n = {sizes}.{rest}",
    )


def _lost(clean: Interval | None, mean: Interval) -> str:
    return NONE if clean is None else points(clean.value - mean.value)


def _difference(differences: Mapping[str, Interval], name: str, *, own: str) -> str:
    if name == own:
        return ITSELF
    return _span(differences.get(name))


def _span(span: Interval | None) -> str:
    if span is None:
        return NONE
    return f"{points(span.value)} ({signed_points(span.low)} to {signed_points(span.high)})"
