"""Percentile bootstrap over samples (Efron 1979), vectorised.   n = samples, m = columns, B = resamples."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Float64, Shaped
from torch import Generator, Tensor

from vitgeom.errors import InvalidInput
from vitgeom.whole_numbers import whole_number

_CHUNK_ELEMENTS = 1 << 22


@dataclass(frozen=True)
class Interval:
    """A value with the ends of its interval."""

    value: float
    low: float
    high: float

    def to_json(self) -> dict[str, float]:
        """Return the three numbers by name."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Interval:
        """Rebuild from :meth:`to_json`."""
        return cls(float(data["value"]), float(data["low"]), float(data["high"]))


def resample_counts(
    num_samples: int, *, num_resamples: int, generator: Generator
) -> Iterator[Float64[Tensor, "b n"]]:
    """Yield, in chunks of b rows, how often each of n samples is drawn in each resample of size n.

    The chunks depend on n alone, so the same generator gives the same resamples on every machine.

    Args:
        num_samples: n >= 1.
        num_resamples: B in all.
        generator: The only source of randomness.
    """
    rows = max(1, _CHUNK_ELEMENTS // num_samples)
    for start in range(0, num_resamples, rows):
        size = min(rows, num_resamples - start)
        drawn = torch.randint(num_samples, (size, num_samples), generator=generator)
        drawn += num_samples * torch.arange(size)[:, None]
        counts = torch.bincount(drawn.view(-1), minlength=size * num_samples)
        yield counts.view(size, num_samples).double()


def bootstrap_interval(
    values: Tensor, *, num_resamples: int, generator: Generator, level: float = 0.95
) -> Interval:
    """Return the mean of values with its percentile interval.

    Args:
        values: One number (or truth value) per sample, shape ``[n]``.
        num_resamples: B.
        generator: The only source of randomness.
        level: Share of resamples inside the interval.

    Returns:
        See :func:`bootstrap_intervals`.

    Raises:
        InvalidInput: No samples, a value that is not finite, or settings out of range.
    """
    if values.ndim != 1:
        raise InvalidInput(
            f"values must have shape [n], got {list(values.shape)}; use bootstrap_intervals for columns."
        )
    return bootstrap_intervals(
        values[:, None], num_resamples=resample_number(num_resamples), generator=generator, level=level
    )[0]


def bootstrap_intervals(
    values: Shaped[Tensor, "n m"], *, num_resamples: int, generator: Generator, level: float = 0.95
) -> tuple[Interval, ...]:
    """Return the mean of every column with its percentile interval; all columns share the resamples.

    One resample draws n of the n samples with replacement. The interval runs from the (1 - level)/2 to the
    (1 + level)/2 quantile of the B resampled means, where the quantile at p of sorted s_0..s_{B-1} is s at the
    fractional index p (B - 1), linear in between. Cost: one product of ``[B, n]`` with ``[n, m]``; memory bounded.

    Wrong to use for samples that are not independent (several crops of one image): resample the groups instead.

    Args:
        values: One number (or truth value) per sample and column.
        num_resamples: B.
        generator: The only source of randomness.
        level: Share of resamples inside the interval.

    Raises:
        InvalidInput: No samples, a value that is not finite, or settings out of range.
    """
    num_resamples = check_resampling(len(values), num_resamples=num_resamples, level=level)
    wide = values.detach().cpu().double()
    if not bool(torch.isfinite(wide).all()):
        raise InvalidInput("values must be finite, got NaN or infinite ones; leave those samples out first.")
    chunks = resample_counts(len(wide), num_resamples=num_resamples, generator=generator)
    means = torch.cat([counts @ wide for counts in chunks]) / len(wide)
    points = wide.mean(dim=0)
    intervals = [
        percentile_interval(float(point), column, level=level)
        for point, column in zip(points, means.T, strict=True)
    ]
    return tuple(interval for interval in intervals if interval is not None)


def percentile_interval(value: float, resampled: Float[Tensor, " B"], *, level: float) -> Interval | None:
    """Return the percentile interval of resampled statistics; NaN marks a resample where it is undefined.

    Args:
        value: The statistic on the samples themselves.
        resampled: The statistic on each resample.
        level: Share of the defined resamples inside the interval.

    Returns:
        None if the value itself, or the statistic on every resample, is undefined.
    """
    defined = resampled[~torch.isnan(resampled)].numpy()
    if math.isnan(value) or len(defined) == 0:
        return None
    low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
    return Interval(value, float(low), float(high))


def percentile_intervals(
    values: Float64[Tensor, " m"], resampled: Float64[Tensor, "B m"], *, level: float
) -> tuple[Interval | None, ...]:
    """Return :func:`percentile_interval` of m statistics that share their resamples.

    Args:
        values: The statistics on the samples themselves.
        resampled: The statistics on each resample.
        level: Share of the defined resamples inside each interval.
    """
    return tuple(
        percentile_interval(float(value), column, level=level)
        for value, column in zip(values, resampled.T, strict=True)
    )


def resample_number(given: object, *, name: str = "num_resamples") -> int:
    """Return a number of resamples as a plain integer.

    Args:
        given: What the caller gave.
        name: What the caller calls it.

    Raises:
        InvalidInput: It is no whole number, or less than 1.
    """
    return whole_number(name, given, at_least=1, way_out="1000 is usual")


def check_resampling(
    num_samples: int, *, num_resamples: object, level: float, name: str = "num_resamples"
) -> int:
    """Refuse what no interval can be made of, and return B as a plain integer.

    Args:
        num_samples: n.
        num_resamples: B, as it was given.
        level: Share of resamples inside the interval.
        name: What the caller calls B.

    Raises:
        InvalidInput: n is 0, B is no whole number or 0, or the level is not between 0 and 1.
    """
    if num_samples < 1:
        raise InvalidInput("values must hold at least 1 sample, got 0; there is nothing to resample.")
    resamples = resample_number(num_resamples, name=name)
    if not 0 < level < 1:
        raise InvalidInput(f"level must lie strictly between 0 and 1, got {level}; 0.95 is usual.")
    return resamples
