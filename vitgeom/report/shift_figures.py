"""The picture of fused layers under shift: how far VFusion is ahead of the last layer, by corruption and severity."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from vitgeom.bootstrap import Interval
from vitgeom.report import palette
from vitgeom.report.drawing import Drawing, draw
from vitgeom.report.numbers import points
from vitgeom.report.shifted_pair import ShiftedPair

FUSED, LAST = "vfusion", "last_layer"
SCALE = (-0.3, -0.15, 0.0, 0.15, 0.3)
"""Differences of the key, as shares; beyond its ends a square gets no darker."""
DARKEST = 0.6
"""Opacity at the ends of the scale: numbers stay readable on it, on light and dark pages."""


def advantage(pair: ShiftedPair, corruption: str, severity: int) -> Interval | None:
    """Return accuracy of VFusion minus that of the last layer under one condition; None where either is missing.

    Args:
        pair: Results under shift.
        corruption: Which damage.
        severity: How strong.
    """
    found = pair.condition(corruption, severity)
    score = None if found is None else found.score(FUSED)
    return None if score is None else score.differences.get(LAST)


def told_apart(span: Interval) -> bool:
    """Return True where the interval of a difference does not hold zero."""
    return span.low > 0 or span.high < 0


def advantage_map(pair: ShiftedPair, *, name: str) -> Drawing:
    """Draw the difference for every corruption (rows) at every severity (columns), with the number in each square.

    Args:
        pair: Results under shift with at least one corruption.
        name: Key of the drawing.
    """
    rows, columns = pair.corruptions, pair.severities

    def paint(figure: Figure) -> None:
        axes, scale = figure.subplots(2, 1, height_ratios=(2.2 * len(rows), 1))
        for row, corruption in enumerate(rows):
            for column, severity in enumerate(columns):
                _square(axes, column, row, advantage(pair, corruption, severity))
        axes.set(xlim=(0, len(columns)), ylim=(len(rows), 0), xlabel="severity")
        axes.set_xticks([place + 0.5 for place in range(len(columns))], [str(number) for number in columns])
        axes.set_yticks(
            [place + 0.5 for place in range(len(rows))], [given.replace("_", " ") for given in rows]
        )
        for place, value in enumerate(SCALE):
            _fill(scale, place, 0, value)
        scale.set(xlim=(0, len(SCALE)), ylim=(0, 1), yticks=[], xlabel="VFusion − last layer (points)")
        scale.set_xticks([place + 0.5 for place in range(len(SCALE))], [_short(value) for value in SCALE])
        for part in (axes, scale):
            part.grid(visible=False)
            part.tick_params(length=0)

    return draw(
        paint,
        name=name,
        title=f"Under which damage VFusion is ahead: {pair.label}",
        description=_words(pair),
        height=1.9 + 0.55 * len(rows),
    )


def _words(pair: ShiftedPair) -> str:
    said = []
    for corruption in pair.corruptions:
        for severity in pair.severities:
            span = advantage(pair, corruption, severity)
            if span is not None:
                said.append(
                    f"{corruption.replace('_', ' ')} {severity}: {points(span.value)} ({points(span.low)} to {points(span.high)})"
                )
    return (
        f"Accuracy of VFusion minus that of the last layer on {pair.num_test:,} damaged test images, by corruption and severity, paired "
        f"95 % intervals. {'; '.join(said)}."
    )


def _square(axes: Axes, column: int, row: int, span: Interval | None) -> None:
    """Fill one square and write its number; brackets where the interval holds zero."""
    _fill(axes, column, row, 0.0 if span is None else span.value)
    text = "none" if span is None else _short(span.value) if told_apart(span) else f"({_short(span.value)})"
    axes.text(column + 0.5, row + 0.5, text, ha="center", va="center", color=palette.INK.light)


def _fill(axes: Axes, column: int, row: int, value: float) -> None:
    """Fill one square: blue ahead, orange behind, by opacity, so that the picture follows light and dark pages."""
    role = palette.LAYER if value >= 0 else palette.PERMUTATION
    alpha = round(DARKEST * min(1.0, abs(value) / SCALE[-1]), 3)
    axes.add_patch(Rectangle((column, row), 1, 1, facecolor=role.light, alpha=alpha, linewidth=0))


def _short(value: float) -> str:
    return points(value).removesuffix(" points")
