"""The picture of fused layers: test accuracy of every method with its interval."""

from __future__ import annotations

from matplotlib.figure import Figure

from vitgeom.report import palette
from vitgeom.report.drawing import Drawing, draw
from vitgeom.report.fused_pair import FusedPair
from vitgeom.report.palette import Role
from vitgeom.report.verdict import spelled

FAMILIES: dict[str, tuple[Role, str]] = {
    "single": (palette.UNIFORM, "^"),
    "logit-level": (palette.REFIT, "s"),
    "vertical": (palette.LAYER, "o"),
    "horizontal": (palette.ORACLE, "D"),
}
"""What a method works on -> colour and marker."""


def accuracy_by_method(pair: FusedPair, *, name: str) -> Drawing:
    """Draw test accuracy by method with its interval, and the best layer as a line.

    Args:
        pair: One comparison.
        name: Key of the drawing.
    """

    def paint(figure: Figure) -> None:
        axes = figure.subplots()
        seen: set[str] = set()
        for place, row in enumerate(pair.methods):
            role, marker = FAMILIES[row.family]
            span = row.score.accuracy
            axes.plot(
                [100 * span.low, 100 * span.high],
                [place, place],
                linewidth=2.4,
                solid_capstyle="round",
                alpha=0.55,
                color=role.light,
            )
            axes.plot(
                [100 * span.value],
                [place],
                marker=marker,
                markersize=6.5,
                linestyle="none",
                color=role.light,
                label=None if row.family in seen else row.family,
            )
            seen.add(row.family)
        axes.axvline(
            100 * pair.comparison.best_layer_accuracy,
            color=palette.UNIFORM.light,
            linestyle=(0, (1, 1.5)),
            linewidth=1.5,
            label="best layer",
        )
        axes.set_yticks(range(len(pair.methods)), [row.title for row in pair.methods])
        axes.set_ylim(len(pair.methods) - 0.5, -0.5)
        axes.set_xlabel("test accuracy (%)")
        axes.grid(visible=False, axis="y")
        figure.legend(loc="outside upper left", ncols=2)

    words = ", ".join(f"{row.title} {spelled(row.score.accuracy)}" for row in pair.methods)
    return draw(
        paint,
        name=name,
        title=f"Accuracy by method: {pair.label}",
        description=(
            f"n = {pair.comparison.num_samples:,} test images, 95 % intervals. {words}. Best layer: "
            f"{100 * pair.comparison.best_layer_accuracy:.1f} %. Oracle over all layers: {100 * pair.comparison.oracle:.1f} %."
        ),
        height=1.6 + 0.3 * len(pair.methods),
    )
