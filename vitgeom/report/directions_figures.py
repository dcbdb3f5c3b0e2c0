"""The curves of one decoder: what R directions hold, singular values, and how eigenvalues are spread.   R = directions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import mean

from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

from vitgeom.report import palette
from vitgeom.report.directed_decoder import DecoderDirections
from vitgeom.report.drawing import Drawing, draw
from vitgeom.report.numbers import percent, significant
from vitgeom.report.palette import Role
from vitgeom.report.verdict import spelled

STYLES: tuple[tuple[Role, str, str], ...] = (
    (palette.LAYER, "o", "-"),
    (palette.PERMUTATION, "s", "--"),
    (palette.ORACLE, "D", "-."),
    (palette.REFIT, "^", ":"),
    (palette.UNIFORM, "v", "-"),
)
"""Colour, marker and dashes of the first, second, ... layer of a figure, or decoder of the map; they begin anew after the last."""
RAISED = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
BINS = 16
LEAST = 1e-8
"""Eigenvalues below this share of the largest are called zero."""


def style(place: int) -> tuple[Role, str, str]:
    """Return colour, marker and dashes of a place in a list.

    Args:
        place: From 0.
    """
    return STYLES[place % len(STYLES)]


def captured_shares(layers: Sequence[DecoderDirections], *, where: str, name: str) -> Drawing:
    """Draw kappa_cap(r) by layer: mean over images, the spread of the images, and the interval of the mean at R.

    Args:
        layers: One decoder at its layers, at least one of them with a curve.
        where: What the dataset × backbone is called.
        name: Key of the drawing.
    """
    drawn = [one for one in layers if one.curves]

    def paint(figure: Figure) -> None:
        axes = figure.subplots()
        for place, one in enumerate(drawn):
            percents = [[100 * share for share in curve] for curve in one.curves]
            _curve(axes, percents, place=place, label=f"layer {one.layer}")
            span = one.value("kappa")
            if span is not None:
                axes.vlines(
                    len(_columns(one.curves)) + 0.25 * (1 + place),
                    100 * span.low,
                    100 * span.high,
                    color=style(place)[0].light,
                    linewidth=2.6,
                )
        longest = max(len(_columns(one.curves)) for one in drawn)
        smaller = min(min(one.outputs, one.columns) for one in drawn)
        axes.plot(
            [0, longest],
            [0, 100 * longest / smaller],
            color=palette.UNIFORM.light,
            linestyle=(0, (1, 1.5)),
            linewidth=1.5,
            label="flat spectrum",
        )
        axes.set(ylim=(0, 103), xlim=(0, longest + 0.25 * (1 + len(drawn)) + 0.1))
        axes.set(xlabel="directions r", ylabel="share of the sensitivity (%)")
        axes.xaxis.set_major_locator(MaxNLocator(nbins=8, integer=True, min_n_ticks=1))
        figure.legend(loc="outside upper left", ncols=2)

    told = "; ".join(
        f"layer {one.layer}: {spelled(one.value('kappa'))} at {one.found}, a flat spectrum {percent(one.flat)}"
        for one in drawn
    )
    return draw(
        paint,
        name=name,
        title=f"What r directions hold: {layers[0].title}, {where}",
        description=f"kappa_cap by number of directions, n = {layers[0].images} images, mean with 95 % interval. {told}.",
        height=3.8,
    )


def singular_values(layers: Sequence[DecoderDirections], *, where: str, name: str) -> Drawing:
    """Draw the largest singular values by layer on logarithmic axes: mean over images and their spread.

    Args:
        layers: One decoder at its layers, at least one of them with a singular value.
        where: What the dataset × backbone is called.
        name: Key of the drawing.
    """
    drawn = [one for one in layers if any(one.spectra)]

    def paint(figure: Figure) -> None:
        axes = figure.subplots()
        for place, one in enumerate(drawn):
            _curve(
                axes,
                [sigma for sigma in one.spectra if sigma],
                place=place,
                label=f"layer {one.layer}",
            )
        axes.set(xscale="log", yscale="log", xlabel="direction j", ylabel="singular value")
        for axis, ends in ((axes.xaxis, axes.get_xlim()), (axes.yaxis, axes.get_ylim())):
            _plain_log(axis, ends)
        figure.legend(loc="outside upper left", ncols=3)

    told = "; ".join(
        f"layer {one.layer}: {significant(means[0])} down to {significant(means[-1])} at {len(means)}"
        for one in drawn
        if (means := [mean(column) for column in _columns([sigma for sigma in one.spectra if sigma])])
    )
    return draw(
        paint,
        name=name,
        title=f"Singular values: {layers[0].title}, {where}",
        description=f"Largest singular values, mean over n = {layers[0].images} images. {told}.",
        height=3.8,
    )


def density(layers: Sequence[DecoderDirections], *, where: str, name: str) -> Drawing:
    """Draw how many eigenvalues of J^T J lie in each of 16 equal steps of a logarithmic axis, for one image.

    Args:
        layers: One decoder at its layers, at least one of them with a density that is not all zero.
        where: What the dataset × backbone is called.
        name: Key of the drawing.
    """
    drawn = [one for one in layers if has_density(one)]
    atoms = {one.layer: _positive(one) for one in drawn}
    largest = max(value for pairs in atoms.values() for value, _ in pairs)
    smallest = min(value for pairs in atoms.values() for value, _ in pairs)
    width = (math.log10(largest / smallest) or 1.0) / BINS
    edges = [smallest * 10 ** (width * step) for step in range(BINS + 1)]

    def paint(figure: Figure) -> None:
        axes = figure.subplots()
        for place, one in enumerate(drawn):
            role, _, dashes = style(place)
            heights = [0.0] * BINS
            for value, count in atoms[one.layer]:
                heights[min(BINS - 1, int(math.log10(value / smallest) / width))] += count
            axes.stairs(
                [max(height, 0.1) for height in heights],
                edges,
                baseline=None,
                color=role.light,
                linestyle=dashes,
                linewidth=1.8,
                label=f"layer {one.layer}",
            )
        axes.set(xscale="log", yscale="log", xlabel="eigenvalue of JᵀJ", ylabel="how many")
        axes.set_ylim(bottom=0.7)
        for axis, ends in ((axes.xaxis, axes.get_xlim()), (axes.yaxis, axes.get_ylim())):
            _plain_log(axis, ends)
        figure.legend(loc="outside upper left", ncols=3)

    told = "; ".join(
        f"layer {one.layer}: {significant(sum(count for _, count in atoms[one.layer]))} from "
        f"{significant(min(value for value, _ in atoms[one.layer]))} to {significant(max(value for value, _ in atoms[one.layer]))}"
        for one in drawn
    )
    return draw(
        paint,
        name=name,
        title=f"Spectral density: {layers[0].title}, {where}",
        description=f"Eigenvalues of JᵀJ of one image that are not zero, counted in steps of a logarithmic axis. {told}.",
        height=3.8,
    )


def has_density(one: DecoderDirections) -> bool:
    """Say whether there is a density with an eigenvalue above zero.

    Args:
        one: A decoder at a layer.
    """
    return one.density is not None and any(value > 0 for value in one.density.values)


def _positive(one: DecoderDirections) -> list[tuple[float, float]]:
    """Return the atoms that are not zero as (eigenvalue, count)."""
    assert one.density is not None, "only layers with a density are drawn"
    least = LEAST * max(one.density.values)
    return [
        (value, count)
        for value, count in zip(one.density.values, one.density.counts, strict=True)
        if value > least
    ]


def _columns(curves: Sequence[Sequence[float]]) -> list[tuple[float, ...]]:
    """Return the values of all images at each place, as far as the shortest curve goes."""
    return list(zip(*curves, strict=False))


def _curve(axes: Axes, curves: Sequence[Sequence[float]], *, place: int, label: str) -> None:
    """Draw the mean of some curves from place 1, and a band from the lowest to the highest."""
    role, marker, dashes = style(place)
    columns = _columns(curves)
    xs = range(1, len(columns) + 1)
    axes.fill_between(
        xs, [min(column) for column in columns], [max(column) for column in columns],
        color=role.light, alpha=0.18, linewidth=0,
    )  # fmt: skip
    axes.plot(
        xs, [mean(column) for column in columns], color=role.light, marker=marker, markersize=4.5, linestyle=dashes, label=label
    )  # fmt: skip


def _plain_log(axis: Axis, ends: tuple[float, float]) -> None:
    """Label a logarithmic axis in plain characters: powers of ten, or 1, 2, 5 where there are few of these."""
    wide = math.log10(ends[1] / ends[0]) > 3
    axis.set_major_locator(LogLocator(subs=(1.0,) if wide else (1.0, 2.0, 5.0), numticks=9))
    axis.set_major_formatter(FuncFormatter(lambda value, _: _power(value) if wide else f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())


def _power(value: float) -> str:
    """Return a power of ten as 10 with a raised exponent."""
    return f"10{str(round(math.log10(value))).translate(RAISED)}"
