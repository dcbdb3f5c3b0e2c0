"""Every decoder and layer as a point: how much few directions hold, against how unevenly they lie over the patches."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from vitgeom.bootstrap import Interval
from vitgeom.report import palette
from vitgeom.report.directed_decoder import DecoderDirections
from vitgeom.report.directed_pair import DirectedPair
from vitgeom.report.directions_figures import style
from vitgeom.report.drawing import Drawing, draw
from vitgeom.report.numbers import between
from vitgeom.report.verdict import spelled

LOWEST = 1e-3
"""A variation below this is drawn here: a logarithmic axis has no zero."""


def on_map(one: DecoderDirections) -> tuple[Interval, Interval] | None:
    """Return (kappa_cap, variation over patches) with intervals, None where one of them is undefined.

    Args:
        one: A decoder at a layer.
    """
    kappa, variation = one.value("kappa"), one.value("variation_patches")
    return None if kappa is None or variation is None else (kappa, variation)


def regime_map(pairs: Sequence[DirectedPair], *, name: str) -> Drawing:
    """Draw the map with the borders between regimes and what chance gives; the number in a point is its layer.

    Args:
        pairs: At least one, with at least one point.
        name: Key of the drawing.
    """
    points = [(pair, one, found) for pair in pairs for one in pair.decoders if (found := on_map(one))]
    names = list(dict.fromkeys(one.variant for _, one, _ in points))
    kappa, variation = points[0][1].thresholds
    most = 1.6 * max(variation, *(found[1].high for *_, found in points))
    least = 0.7 * min(
        0.1, *(_shown(one.scatter) for _, one, _ in points), *(_shown(found[1].low) for *_, found in points)
    )

    def paint(figure: Figure) -> None:
        axes = figure.subplots()
        axes.axvline(variation, color=palette.MUTED.light, linewidth=1.2)
        axes.plot([least, variation], [100 * kappa] * 2, color=palette.MUTED.light, linewidth=1.2)
        for scatter in sorted({float(f"{one.scatter:.2g}") for _, one, _ in points}):
            axes.axvline(scatter, color=palette.UNIFORM.light, linestyle=(0, (1, 1.5)), linewidth=1.3)
        for _, one, found in points:
            _point(
                axes, found, str(one.layer), place=names.index(one.variant), hollow=one.regime == "structural"
            )
        axes.set(xscale="log", xlim=(least, most), ylim=(-4, 118))
        axes.set(xlabel="variation (CV) over patches", ylabel="held by R directions (%)")
        axes.set_yticks([0, 20, 40, 60, 80, 100])
        for x, y, words, side, level in (
            (1.06 * variation, 116, "uneven tokens", "left", "top"),
            (variation / 1.06, 116, "few directions", "right", "top"),
            (variation / 1.06, 0, "many directions", "right", "center"),
        ):
            axes.text(x, y, words, ha=side, va=level, color=palette.MUTED.light)
        axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 3.0), numticks=9))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.xaxis.set_minor_formatter(NullFormatter())
        figure.legend(handles=_legend(points, names), loc="outside upper left", ncols=2)

    told = "; ".join(
        f"{pair.label}, {one.label}: {spelled(found[0])} held, variation {between(found[1].value, found[1].low, found[1].high)}, "
        f"by chance {between(one.scatter, one.scatter, one.scatter)}, n = {one.images}"
        for pair, one, found in points
    )
    return draw(
        paint,
        name=name,
        title="Which kind of problem each decoder poses",
        description=(
            f"Share that R directions hold, against the variation of their energy over patches, mean over images with 95 % intervals. Borders: "
            f"{100 * kappa:g} % and {variation:g}. {told}."
        ),
        height=4.6,
    )


def _legend(
    points: Sequence[tuple[DirectedPair, DecoderDirections, object]], names: Sequence[str]
) -> list[Line2D]:
    titles = {one.variant: one.title for _, one, _ in points}
    entries = [
        Line2D(
            [],
            [],
            color=style(place)[0].light,
            marker=style(place)[1],
            linestyle="none",
            markersize=9,
            label=titles[name],
        )
        for place, name in enumerate(names)
    ]
    chance = Line2D([], [], color=palette.UNIFORM.light, linestyle=(0, (1, 1.5)), label="random directions")
    border = Line2D([], [], color=palette.MUTED.light, linewidth=1.2, label="border")
    return [*entries, chance, border]


def _point(axes: Axes, found: tuple[Interval, Interval], layer: str, *, place: int, hollow: bool) -> None:
    """Draw one point with its two intervals and its layer inside; a hollow one holds everything by construction."""
    role, marker, _ = style(place)
    kappa, variation = found
    x, y = _shown(variation.value), 100 * kappa.value
    axes.plot(
        [_shown(variation.low), _shown(variation.high)], [y, y], color=role.light, linewidth=2, alpha=0.6
    )
    axes.plot([x, x], [100 * kappa.low, 100 * kappa.high], color=role.light, linewidth=2, alpha=0.6)
    face = palette.SURFACE.light if hollow else role.light
    axes.plot(
        [x], [y], marker=marker, markersize=17, color=role.light, markerfacecolor=face, linestyle="none"
    )
    ink = role.light if hollow else palette.SURFACE.light
    axes.text(x, y, layer, ha="center", va="center_baseline", color=ink)


def _shown(variation: float) -> float:
    return max(variation, LOWEST)
