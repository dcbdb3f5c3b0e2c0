"""The pictures of learnt metrics: how scores rank patches, and how the network's directions lie.   rho = Spearman, R = directions."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from vitgeom.bootstrap import Interval
from vitgeom.report import palette
from vitgeom.report.averaged import Averaged
from vitgeom.report.drawing import Drawing, draw
from vitgeom.report.learnt_decoder import (
    EXACT,
    NETWORK,
    RANDOM,
    RANKED,
    TARGETS,
    UNTRUNCATED,
    LearntDecoder,
    title_of,
)
from vitgeom.report.learnt_rules import spelled_mean
from vitgeom.report.numbers import significant
from vitgeom.report.palette import Role

NARROW = {NETWORK: "network (SPN)"}
CEILING, TRUNCATION = (0, (5.0, 2.0)), (0, (1.0, 1.5))
V1: tuple[tuple[str, str, Role, str], ...] = (
    ("learnt", "network", palette.LAYER, "o"),
    ("ceiling", "two estimates (ceiling)", palette.PERMUTATION, "D"),
    ("constant", "one subspace for all images", palette.REFIT, "s"),
    ("chance", "random subspace", palette.UNIFORM, "^"),
)
"""Attribute of an alignment, words, colour, marker."""


def target_words(one: LearntDecoder, target: str) -> str:
    """Return what a target is called.

    Args:
        one: Says from how many directions.
        target: Which.
    """
    return {
        RANKED: f"exact importance, {one.rank} directions",
        UNTRUNCATED: "exact block norms, not truncated",
    }[target]


def scores_of(one: LearntDecoder, target: str) -> list[tuple[str, Averaged]]:
    """Return every score that has a rho with a target, models first; a target has none with itself.

    Args:
        one: A decoder at a layer.
        target: Which.
    """
    names = (*one.learners, EXACT, *one.plain, RANDOM)
    skipped = {EXACT} if target == UNTRUNCATED else set()
    return [(name, found) for name in names if name not in skipped and (found := one.rho(name, target))]


def rank_correlations(one: LearntDecoder, *, where: str, name: str) -> Drawing:
    """Draw rho by score as bars with intervals, once per target, with the agreement of two estimates and of both targets as lines.

    Args:
        one: A decoder at a layer with some rho.
        where: What the dataset × backbone is called.
        name: Key of the drawing.
    """
    panels = [(target, found) for target in TARGETS if (found := scores_of(one, target))]
    spans = [score.mean for _, found in panels for _, score in found]
    least = min(-0.06, *(1.1 * span.low for span in spans)) if spans else -0.06

    def paint(figure: Figure) -> None:
        rows = figure.subplots(
            len(panels), 1, sharex=True, squeeze=False, height_ratios=[len(found) for _, found in panels]
        )
        for axes, (target, found) in zip(rows[:, 0], panels, strict=True):
            for place, (score, each) in enumerate(found):
                _bar(axes, each.mean, place, role=_role(one, score))
            _level(axes, one.ceiling[target], dashes=CEILING, role=palette.PERMUTATION)
            _level(axes, one.truncation, dashes=TRUNCATION, role=palette.UNIFORM)
            axes.set_yticks(range(len(found)), [NARROW.get(score, title_of(score)) for score, _ in found])
            axes.set_title(target_words(one, target), loc="left")
            axes.set(ylim=(len(found) - 0.5, -0.5), xlim=(least, 1.04))
            axes.grid(visible=False, axis="y")
        rows[-1, 0].set_xlabel("Spearman's ρ over patches")
        figure.legend(handles=_legend(), loc="outside upper left", ncols=2)

    told = "; ".join(
        f"{target_words(one, target)}: "
        + ", ".join(f"{title_of(score)} {spelled_mean(each)}" for score, each in found)
        + f", two estimates {spelled_mean(one.ceiling[target])}"
        for target, found in panels
    )
    return draw(
        paint,
        name=name,
        title=f"Who ranks patches as the exact metric does: {one.label}, {where}",
        description=(
            f"Spearman's rank correlation over the patches of an image, mean over n = {one.images.get('test', 0):,} test images with 95 % intervals. "
            f"{told}. Truncation, one target against the other: {spelled_mean(one.truncation)}."
        ),
        height=1.9 + 0.34 * sum(len(found) + 0.7 for _, found in panels),
    )


def alignments(decoders: Sequence[LearntDecoder], *, where: str, name: str) -> Drawing:
    """Draw V1 of the networks beside ceiling, one subspace for all images, and chance.

    Args:
        decoders: Those with a network.
        where: What the dataset × backbone is called.
        name: Key of the drawing.
    """

    def paint(figure: Figure) -> None:
        axes = figure.subplots()
        for row, one in enumerate(decoders):
            for slot, (_, span, role, marker) in enumerate(_v1(one)):
                if span is not None:
                    _mark(axes, span, row + 0.16 * slot - 0.1, role=role, marker=marker)
            axes.text(-0.02, row - 0.25, one.label, va="bottom").set_in_layout(False)
            if row:
                axes.axhline(row - 0.6, color=palette.GRID.light, linewidth=0.8)
        entries = [
            Line2D([], [], color=role.light, marker=marker, linewidth=2, label=words)
            for _, words, role, marker in V1
        ]
        figure.legend(handles=entries, loc="outside upper left", ncols=1)
        axes.set(xlim=(-0.02, 1.02), ylim=(len(decoders) - 0.42, -0.62), yticks=[])
        axes.set_xlabel("V1: share of the exact subspace that is held")
        axes.spines["left"].set_visible(False)

    told = "; ".join(
        f"{one.label}, n = {one.alignment.learnt.images if one.alignment and one.alignment.learnt else 0:,}: "
        + ", ".join(f"{words} {_spelled(span)}" for words, span, *_ in _v1(one))
        for one in decoders
    )
    return draw(
        paint,
        name=name,
        title=f"Do the network's directions lie where the exact ones do: {where}",
        description=f"V1, mean over test images with 95 % intervals. {told}.",
        height=2.1 + 0.85 * len(decoders),
    )


def _v1(one: LearntDecoder) -> list[tuple[str, Interval | None, Role, str]]:
    assert one.alignment is not None, "only decoders with a network are drawn"
    spans = []
    for key, words, role, marker in V1:
        found = getattr(one.alignment, key)
        if isinstance(found, float):
            span: Interval | None = Interval(found, found, found)
        else:
            span = None if found is None else found.mean
        spans.append((words, span, role, marker))
    return spans


def _spelled(span: Interval | None) -> str:
    if span is None:
        return "undefined"
    return (
        significant(span.value)
        if span.low == span.high
        else f"{significant(span.value)} ({significant(span.low)} to {significant(span.high)})"
    )


def _role(one: LearntDecoder, score: str) -> Role:
    if score in one.learners:
        return palette.LAYER
    return {EXACT: palette.ORACLE, RANDOM: palette.UNIFORM}.get(score, palette.REFIT)


def _bar(axes: Axes, span: Interval, place: int, *, role: Role) -> None:
    axes.barh([place], [span.value], height=0.62, color=role.light, alpha=0.45)
    axes.plot([span.low, span.high], [place, place], color=role.light, linewidth=2.6, solid_capstyle="round")
    axes.plot([span.value], [place], color=role.light, marker="o", markersize=5, linestyle="none")


def _mark(axes: Axes, span: Interval, place: float, *, role: Role, marker: str) -> None:
    axes.plot(
        [span.low, span.high],
        [place, place],
        linewidth=2.4,
        solid_capstyle="round",
        alpha=0.55,
        color=role.light,
    )
    axes.plot([span.value], [place], marker=marker, markersize=6.5, linestyle="none", color=role.light)


def _level(axes: Axes, found: Averaged | None, *, dashes: tuple[int, tuple[float, ...]], role: Role) -> None:
    """Draw a level with its interval; nothing for None."""
    if found is None:
        return
    axes.axvspan(found.mean.low, found.mean.high, color=role.light, alpha=0.13, linewidth=0)
    axes.axvline(found.mean.value, color=role.light, linestyle=dashes, linewidth=1.6)


def _legend() -> list[Line2D | Patch]:
    return [
        Line2D(
            [],
            [],
            color=palette.PERMUTATION.light,
            linestyle=CEILING,
            linewidth=1.6,
            label="two estimates (ceiling)",
        ),
        Line2D([], [], color=palette.UNIFORM.light, linestyle=TRUNCATION, linewidth=1.6, label="truncation"),
        Patch(color=palette.LAYER.light, alpha=0.45, label="learnt"),
        Patch(color=palette.REFIT.light, alpha=0.45, label="not learnt"),
    ]
