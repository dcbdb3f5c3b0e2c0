"""Pictures of how the layers of one pair relate: who corrects the last layer, and which layers say the same."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator

from vitgeom.bootstrap import Interval
from vitgeom.report import palette
from vitgeom.report.combination import Combination
from vitgeom.report.drawing import Drawing, draw
from vitgeom.report.numbers import percent
from vitgeom.report.verdict import spelled

SCALE = (0.0, 0.25, 0.5, 0.75, 1.0)


def correction_shares(pair: Combination, *, name: str) -> Drawing:
    """Draw q_l of every earlier layer with its interval, beside what an even spread would give.

    Args:
        pair: Results of one dataset × backbone with at least one correction.
        name: Key of the drawing.
    """
    assert pair.corrections is not None, "only pairs with corrections are drawn"
    shares = pair.corrections.share
    even = 1 / len(shares)

    def paint(figure: Figure) -> None:
        axes = figure.subplots()
        for layer, share in enumerate(shares, start=1):
            axes.bar([layer], [100 * share.value], width=0.72, color=palette.LAYER.light, alpha=0.75)
            axes.plot(
                [layer, layer], [100 * share.low, 100 * share.high], color=palette.INK.light, linewidth=1.4
            )
        axes.axhline(
            100 * even,
            color=palette.UNIFORM.light,
            linestyle=(0, (1, 1.5)),
            linewidth=1.5,
            label="even spread",
        )
        axes.set_xlim(0.4, len(shares) + 0.6)
        axes.set_ylim(bottom=0)
        axes.set_xlabel("layer")
        axes.set_ylabel("share of the corrections (%)")
        axes.xaxis.set_major_locator(MaxNLocator(nbins=12, integer=True, min_n_ticks=1))
        axes.grid(visible=False, axis="x")
        figure.legend(loc="outside upper left")

    numbers = ", ".join(f"layer {layer} {spelled(share)}" for layer, share in enumerate(shares, start=1))
    return draw(
        paint,
        name=name,
        title=f"Which layers correct the last one: {pair.label}",
        description=(
            f"Share of each earlier layer in the corrections of the last layer's {pair.errors:,} test errors, credit for an image divided "
            f"evenly among the layers that are right, 95 % intervals. {numbers}. Even spread: {percent(even)}. "
            f"Entropy, 1 = even: {_entropy(pair.corrections.entropy)}."
        ),
        height=3.4,
    )


def _entropy(entropy: Interval | None) -> str:
    return (
        "not defined" if entropy is None else f"{entropy.value:.2f} ({entropy.low:.2f} to {entropy.high:.2f})"
    )


def layer_agreement(pair: Combination, *, name: str) -> Drawing:
    """Draw the share of test images on which each two layers predict the same class.

    Args:
        pair: Results of one dataset × backbone with at least two layers.
        name: Key of the drawing.
    """
    assert pair.diversity is not None, "only pairs with several layers are drawn"
    matrix = pair.diversity.agreement_by_pair
    size = len(matrix)

    def paint(figure: Figure) -> None:
        axes, scale = figure.subplots(2, 1, height_ratios=(14, 1))
        for row, values in enumerate(matrix, start=1):
            for column, value in enumerate(values, start=1):
                _cell(axes, column - 0.5, row - 0.5, value or 0.0)
        axes.set(
            xlim=(0.5, size + 0.5), ylim=(size + 0.5, 0.5), aspect="equal", xlabel="layer", ylabel="layer"
        )
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_locator(MaxNLocator(nbins=12, integer=True, min_n_ticks=1))
        axes.grid(visible=False)
        for place, value in enumerate(SCALE):
            _cell(scale, float(place), 0.0, value)
        scale.set(xlim=(0, len(SCALE)), ylim=(0, 1), yticks=[])
        scale.set_xticks(
            [place + 0.5 for place in range(len(SCALE))],
            [f"{value:.0%}".replace("%", " %") for value in SCALE],
        )
        scale.grid(visible=False)

    nearest = [matrix[layer][layer + 1] for layer in range(size - 1)]
    with_last = ", ".join(
        f"layer {layer} {percent(row[-1] or 0.0)}" for layer, row in enumerate(matrix[:-1], start=1)
    )
    return draw(
        paint,
        name=name,
        title=f"Which layers say the same: {pair.label}",
        description=(
            f"Share of {pair.num_test:,} test images on which two layers predict the same class; darker is more. With the last layer: "
            f"{with_last}. Neighbouring layers: {percent(min(part or 0.0 for part in nearest))} to "
            f"{percent(max(part or 0.0 for part in nearest))}."
        ),
        height=5.2,
    )


def _cell(axes: Axes, x: float, y: float, value: float) -> None:
    """Fill one square; opacity instead of a colour map, so that the picture follows light and dark pages."""
    axes.add_patch(Rectangle((x, y), 1, 1, facecolor=palette.LAYER.light, alpha=round(value, 3), linewidth=0))
