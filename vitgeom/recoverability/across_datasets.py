"""Does redundancy between layers go with recoverability? Correlations over datasets (A7 of the methods).   N = reports."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from scipy.stats import rankdata
from torch import Generator

from vitgeom.bootstrap import Interval, check_resampling, percentile_interval
from vitgeom.errors import InvalidInput
from vitgeom.recoverability.report import RecoverabilityReport
from vitgeom.seeding import check_generator

FEWEST = 3
"""With two reports every correlation is 1 or -1."""


@dataclass(frozen=True)
class Correlation:
    """R_any against one property of the layers.

    Attributes:
        expected: The sign that the redundancy hypothesis predicts: 1, -1, or 0 for "weak".
        pearson: Linear correlation; None if one of the two does not vary.
        spearman: Correlation of ranks, ties at their mean rank.
        values: (property, R_any) of each report that has both.
    """

    expected: int
    pearson: Interval | None
    spearman: Interval | None
    values: tuple[tuple[float, float], ...]


def _entropy(report: RecoverabilityReport) -> float | None:
    entropy = None if report.corrections is None else report.corrections["shared"].entropy
    return None if entropy is None else entropy.value


PROPERTIES: Mapping[str, tuple[int, Callable[[RecoverabilityReport], float | None]]] = {
    "correction entropy": (1, _entropy),
    "geometric disagreement": (
        -1,
        lambda report: None if report.geometry is None else report.geometry.centred.value,
    ),
    "prediction diversity": (
        0,
        lambda report: None if report.diversity is None else report.diversity.disagreement.value,
    ),
}


def across_datasets(
    reports: Sequence[RecoverabilityReport],
    *,
    num_resamples: int = 1000,
    generator: Generator,
    level: float = 0.95,
) -> dict[str, Correlation]:
    """Correlate R_any with correction entropy, geometric disagreement and prediction diversity over datasets.

    The intervals are percentile bootstrap over reports: with few datasets they are wide, and that is what they should say. Reports of
    several backbones on the same images are not independent; give one backbone at a time, or read the interval as too narrow.

    Args:
        reports: At least three; one in which R_any or a property is undefined is left out of that correlation.
        num_resamples: B.
        generator: The only source of randomness.
        level: Share of resamples inside the interval.

    Raises:
        InvalidInput: Fewer than three reports, no generator, or settings out of range.
    """
    check_generator(generator)
    if len(reports) < FEWEST:
        raise InvalidInput(
            f"reports must hold at least {FEWEST} datasets, got {len(reports)}: two points lie on a line whatever they are."
        )
    num_resamples = check_resampling(len(reports), num_resamples=num_resamples, level=level)
    drawn = torch.randint(len(reports), (num_resamples, len(reports)), generator=generator).numpy()
    return {
        name: _correlation(reports, expected, value, drawn=drawn, level=level)
        for name, (expected, value) in PROPERTIES.items()
    }


def _correlation(
    reports: Sequence[RecoverabilityReport],
    expected: int,
    value: Callable[[RecoverabilityReport], float | None],
    *,
    drawn: np.ndarray,
    level: float,
) -> Correlation:
    pairs = [(value(report), report.r_any and report.r_any.value) for report in reports]
    x, y = (
        np.array([np.nan if part is None else part for part in column]) for column in zip(*pairs, strict=True)
    )
    known = ~(np.isnan(x) | np.isnan(y))
    resamples = [rows[known[rows]] for rows in drawn]

    def interval(measure: Callable[[np.ndarray, np.ndarray], float]) -> Interval | None:
        there = torch.tensor([measure(x[rows], y[rows]) for rows in resamples], dtype=torch.float64)
        return percentile_interval(measure(x[known], y[known]), there, level=level)

    return Correlation(
        expected=expected,
        pearson=interval(pearson),
        spearman=interval(lambda first, second: pearson(rankdata(first), rankdata(second))),
        values=tuple(zip(x[known].tolist(), y[known].tolist(), strict=True)),
    )


def pearson(x: np.ndarray, y: np.ndarray) -> float:
    """Return the linear correlation, NaN for fewer than three points or a column that does not vary.

    Args:
        x: [N].
        y: [N].
    """
    if len(x) < FEWEST or np.ptp(x) == 0 or np.ptp(y) == 0:
        return float("nan")
    dx, dy = x - x.mean(), y - y.mean()
    return float(dx @ dy / np.sqrt((dx @ dx) * (dy @ dy)))
