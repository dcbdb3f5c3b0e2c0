"""Effective ranks and what R directions hold, before a bottleneck and behind it."""

from __future__ import annotations

import math

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from vitgeom.report import palette
from vitgeom.report.averaged import Averaged
from vitgeom.report.drawing import Drawing, draw
from vitgeom.report.learnt_bottleneck import FIGURES, RANKS, Bottleneck
from vitgeom.report.learnt_decoder import LearntDecoder
from vitgeom.report.learnt_rules import spelled_mean

MOMENTS = (
    ("before", "before", palette.UNIFORM, "^"),
    ("after", "behind the bottleneck", palette.LAYER, "o"),
)
"""Attribute of a change, words, colour, marker."""


def bottleneck_change(one: LearntDecoder, *, where: str, name: str) -> Drawing:
    """Draw every effective rank on a logarithmic axis and kappa_cap(R) in percent, before and behind.

    Args:
        one: A decoder at a layer with a bottleneck of which some effective rank is defined.
        where: What the dataset × backbone is called.
        name: Key of the drawing.
    """
    found = one.bottleneck
    assert found is not None, "only a decoder with a bottleneck is drawn"

    def paint(figure: Figure) -> None:
        above, below = figure.subplots(2, 1, height_ratios=(len(RANKS), 1))
        for row, (key, words) in enumerate(RANKS.items()):
            _pair(above, found, key, row, scale=1.0)
            above.text(0.0, row - 0.2, words, va="bottom", transform=above.get_yaxis_transform())
        above.set(xscale="log", ylim=(len(RANKS) - 0.6, -0.7), yticks=[])
        above.set_xlabel("effective rank")
        _plain(above)
        _pair(below, found, "kappa", 0, scale=100.0)
        below.set(xlim=(-2, 102), ylim=(0.4, -0.4), yticks=[])
        below.set_xlabel(f"kappa_cap({one.rank}): held by {one.rank} directions (%)")
        for axes in (above, below):
            axes.spines["left"].set_visible(False)
            axes.grid(visible=False, axis="y")
        entries = [
            Line2D([], [], color=role.light, marker=marker, linewidth=2, label=words)
            for _, words, role, marker in MOMENTS
        ]
        figure.legend(handles=entries, loc="outside upper left", ncols=2)

    told = "; ".join(
        f"{words}: {spelled_mean(found.figures[key].before)} before, {spelled_mean(found.figures[key].after)} behind"
        for key, words in FIGURES.items()
    )
    return draw(
        paint,
        name=name,
        title=f"What the bottleneck does: {one.label}, {where}",
        description=(
            f"{found.latents:,} numbers between features and decoder, mean over test images with 95 % intervals. {told}. Rebuild error "
            f"{spelled_mean(found.rebuild_error)}, error of the output {spelled_mean(found.task_error)}."
        ),
        height=4.2,
    )


def has_ranks(found: Bottleneck) -> bool:
    """Say whether some effective rank can be drawn.

    Args:
        found: The bottleneck.
    """
    return any(_positive(getattr(found.figures[key], moment)) for key in RANKS for moment, *_ in MOMENTS)


def _positive(found: Averaged | None) -> bool:
    return found is not None and found.mean.low > 0


def _pair(axes: Axes, found: Bottleneck, key: str, row: int, *, scale: float) -> None:
    """Draw one figure at both moments, one below the other."""
    for slot, (moment, _, role, marker) in enumerate(MOMENTS):
        each: Averaged | None = getattr(found.figures[key], moment)
        if each is None or (scale == 1.0 and not _positive(each)):
            continue
        place = row + 0.2 * slot - 0.05
        axes.plot(
            [scale * each.mean.low, scale * each.mean.high], [place, place],
            color=role.light, linewidth=2.4, alpha=0.55, solid_capstyle="round",
        )  # fmt: skip
        axes.plot(
            [scale * each.mean.value],
            [place],
            color=role.light,
            marker=marker,
            markersize=7,
            linestyle="none",
        )


def _plain(axes: Axes) -> None:
    """Label the logarithmic axis in plain numbers, and let it span a factor of 10 at least."""
    low, high = axes.get_xlim()
    if high / low < 10:
        middle = math.sqrt(low * high)
        axes.set_xlim(middle / math.sqrt(10), middle * math.sqrt(10))
    axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0), numticks=9))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
