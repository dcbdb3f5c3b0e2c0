"""The pictures of the report: pure functions from results to drawings."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from vitgeom.bootstrap import Interval
from vitgeom.report import palette
from vitgeom.report.combination import Combination
from vitgeom.report.drawing import Drawing, draw
from vitgeom.report.numbers import percent
from vitgeom.report.palette import Role
from vitgeom.report.verdict import spelled

# (attribute of a combination, words in the legend, words on a narrow axis, role, marker)
LEVELS: tuple[tuple[str, str, str, Role, str], ...] = (
    ("r_any", "any earlier layer", "any earlier", palette.LAYER, "o"),
    ("refit_control", "refits of the last layer", "refits", palette.REFIT, "s"),
    ("floor_permutation", "permuted predictions", "permuted", palette.PERMUTATION, "D"),
    ("floor_uniform", "uniform guessing", "guessing", palette.UNIFORM, "^"),
)
LONGEST_LABEL = 38


def overview(combinations: Sequence[Combination], *, name: str) -> Drawing:
    """Draw R_any of every pair beside everything it must exceed.

    Args:
        combinations: Pairs that have an R_any, at least one.
        name: Key of the drawing.
    """
    words = "; ".join(
        f"{pair.label}, n = {pair.errors:,}: "
        + ", ".join(
            f"{words} {spelled(getattr(pair, key), missing='not measured')}" for key, words, *_ in LEVELS
        )
        for pair in combinations
    )

    def paint(figure: Figure) -> None:
        axes = figure.subplots()
        for row, pair in enumerate(combinations):
            for slot, (key, _, _, role, marker) in enumerate(LEVELS):
                _level(
                    axes,
                    getattr(pair, key),
                    row + 0.14 * slot - 0.08,
                    role=role,
                    marker=marker,
                    upright=False,
                )
            axes.text(
                -2, row - 0.24, f"{_shortened(pair.label)}, n = {pair.errors:,}", va="bottom"
            ).set_in_layout(False)
            axes.axhline(row - 0.58, color=palette.GRID.light, linewidth=0.8)
        _legend(figure, LEVELS)
        axes.set(xlim=(-2, 102), ylim=(len(combinations) - 0.42, -0.62), yticks=[])
        axes.set_xlabel("share of the last layer's errors (%)")
        axes.spines["left"].set_visible(False)

    return draw(
        paint,
        name=name,
        title="What earlier layers know of the last layer's errors, and what luck would give",
        description=f"Share of the last layer's test errors, with 95 % interval. {words}.",
        height=1.3 + 0.82 * len(combinations),
    )


def accuracy_by_layer(pair: Combination, *, name: str) -> Drawing:
    """Draw test accuracy by layer with its interval, the best layer, and the oracle over all layers.

    Args:
        pair: Results of one dataset × backbone.
        name: Key of the drawing.
    """
    layers = [layer.layer for layer in pair.layers]
    spans = [layer.accuracy for layer in pair.layers]

    def paint(figure: Figure) -> None:
        axes = figure.subplots()
        _band(axes, layers, spans, role=palette.LAYER)
        axes.plot(
            layers,
            [100 * span.value for span in spans],
            color=palette.LAYER.light,
            marker="o",
            markersize=5,
            label="probe of the layer",
        )
        axes.axhspan(
            100 * pair.oracle.low, 100 * pair.oracle.high, color=palette.ORACLE.light, alpha=0.15, linewidth=0
        )
        axes.axhline(
            100 * pair.oracle.value,
            color=palette.ORACLE.light,
            linestyle=(0, (5, 2)),
            label="some layer is right (oracle)",
        )
        axes.plot(
            [pair.best_layer], [100 * pair.best.accuracy.value], linestyle="none", marker="o", markersize=13, markerfacecolor="none",
            markeredgecolor=palette.INK.light, markeredgewidth=1.4, label=f"best by validation: layer {pair.best_layer}",
        )  # fmt: skip
        doubtful = [layer for layer in pair.layers if not layer.converged]
        if doubtful:
            axes.plot(
                [layer.layer for layer in doubtful], [100 * layer.accuracy.value for layer in doubtful], linestyle="none", marker="x",
                markersize=9, markeredgewidth=2, color=palette.PERMUTATION.light, label="probe did not converge",
            )  # fmt: skip
        _layer_axis(axes, pair.num_layers, most_ticks=12)
        axes.set_ylabel("test accuracy (%)")
        figure.legend(loc="outside upper left", ncols=1)

    table = ", ".join(f"layer {layer.layer} {spelled(layer.accuracy)}" for layer in pair.layers)
    return draw(
        paint,
        name=name,
        title=f"Test accuracy by layer: {pair.label}",
        description=(
            f"n = {pair.num_test:,} test images, 95 % intervals. {table}. Best by validation: layer {pair.best_layer}. "
            f"Oracle over all layers: {spelled(pair.oracle)}."
        ),
        height=4.1,
    )


def recoverability_by_layer(pair: Combination, *, name: str) -> Drawing:
    """Draw R_l of every earlier layer and, beside it, R_any with its floors and control.

    Args:
        pair: Results of one dataset × backbone with at least one error and two layers.
        name: Key of the drawing.
    """
    earlier = [
        (layer.layer, layer.recoverability) for layer in pair.layers if layer.recoverability is not None
    ]
    single = 1 / pair.num_classes

    def paint(figure: Figure) -> None:
        left, right = figure.subplots(1, 2, sharey=True, width_ratios=(1.5, 1))
        for layer, span in earlier:
            _level(left, span, float(layer), role=palette.LAYER, marker="o", upright=True)
        left.axhline(100 * single, color=palette.UNIFORM.light, linestyle=(0, (1, 1.5)), linewidth=1.5)
        _layer_axis(left, pair.num_layers - 1, most_ticks=6)
        left.set_ylabel("share of the last layer's errors (%)")
        left.set_title("each layer alone", loc="left")
        for slot, (key, _, _, role, marker) in enumerate(LEVELS):
            _level(right, getattr(pair, key), float(slot), role=role, marker=marker, upright=True)
        right.set_title("all together", loc="left")
        right.set_xticks(
            range(len(LEVELS)),
            [short for _, _, short, *_ in LEVELS],
            rotation=40,
            ha="right",
            rotation_mode="anchor",
        )
        right.set(xlim=(-0.6, len(LEVELS) - 0.4), ylim=(-3, 103))
        right.grid(visible=False, axis="x")

    table = ", ".join(f"layer {layer} {spelled(span)}" for layer, span in earlier)
    levels = ", ".join(
        f"{words} {spelled(getattr(pair, key), missing='not measured')}" for key, words, *_ in LEVELS
    )
    return draw(
        paint,
        name=name,
        title=f"Recoverability: {pair.label}",
        description=(
            f"Share of the {pair.errors:,} test errors of the last layer that a layer gets right, 95 % intervals. {table}. "
            f"One uniform guess: {percent(single)}. All earlier layers together: {levels}."
        ),
        height=4.1,
    )


def _shortened(label: str) -> str:
    """Keep both ends of a label that would not fit on a phone; the page spells it out elsewhere."""
    return (
        label
        if len(label) <= LONGEST_LABEL
        else f"{label[: LONGEST_LABEL // 2 - 1]}…{label[-LONGEST_LABEL // 2 :]}"
    )


def _level(
    axes: Axes, span: Interval | None, position: float, *, role: Role, marker: str, upright: bool
) -> None:
    """Draw one number and its interval at ``position`` of the other axis; nothing for ``None``."""
    if span is None:
        return
    middle, ends = [100 * span.value], ([100 * span.low, 100 * span.high], [position, position])
    xs, ys = ends[::-1] if upright else ends
    axes.plot(xs, ys, linewidth=2.4, solid_capstyle="round", alpha=0.55, color=role.light)
    spot = ([position], middle) if upright else (middle, [position])
    axes.plot(*spot, marker=marker, markersize=6.5, linestyle="none", color=role.light)


def _band(axes: Axes, xs: Sequence[int], spans: Sequence[Interval], *, role: Role) -> None:
    low, high = [100 * span.low for span in spans], [100 * span.high for span in spans]
    if len(xs) > 1:
        axes.fill_between(xs, low, high, color=role.light, alpha=0.2, linewidth=0)
    axes.vlines(xs, low, high, color=role.light, alpha=0.55, linewidth=1.6)


def _layer_axis(axes: Axes, num_layers: int, *, most_ticks: int) -> None:
    axes.set_xlim(0.5, num_layers + 0.5)
    axes.set_xlabel("layer")
    axes.xaxis.set_major_locator(MaxNLocator(nbins=most_ticks, integer=True, min_n_ticks=1))
    axes.grid(visible=False, axis="x")


def _legend(figure: Figure, levels: Sequence[tuple[str, str, str, Role, str]]) -> None:
    entries = [
        Line2D([], [], color=role.light, marker=marker, linewidth=2, label=words)
        for _, words, _, role, marker in levels
    ]
    figure.legend(handles=entries, loc="outside upper left", ncols=2)
