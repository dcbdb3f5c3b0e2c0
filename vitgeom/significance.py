"""Is one method better than another on the same test samples?   n = samples."""

from __future__ import annotations

from dataclasses import dataclass

from jaxtyping import Bool
from torch import Generator, Tensor

from vitgeom.bootstrap import Interval, bootstrap_interval, resample_number
from vitgeom.errors import InvalidInput


@dataclass(frozen=True)
class McNemar:
    """Samples that only one of two methods gets right, and the exact two-sided p-value."""

    only_first: int
    only_second: int
    p: float


def mcnemar(first: Bool[Tensor, " n"], second: Bool[Tensor, " m"]) -> McNemar:
    """Test whether two methods are right equally often (McNemar 1947, exact binomial form).

    Of the d samples where exactly one method is right, the smaller share has s. Under equality s is binomial(d, 1/2):
    p = min(1, 2 P(S <= s)), summed in integers, hence exact to rounding; p = 1 when d = 0.

    Args:
        first: Whether the first method is right on each sample.
        second: The same for the second.

    Raises:
        InvalidInput: The two are of different length.
    """
    _check_pair(first, second)
    only_first, only_second = int((first & ~second).sum()), int((second & ~first).sum())
    discordant, smaller = only_first + only_second, min(only_first, only_second)
    term, total = 1, 0
    for successes in range(smaller + 1):
        total += term
        term = term * (discordant - successes) // (successes + 1)
    return McNemar(only_first, only_second, min(1.0, 2 * total / 2**discordant))


def paired_difference(
    first: Bool[Tensor, " n"],
    second: Bool[Tensor, " m"],
    *,
    num_resamples: int = 1000,
    generator: Generator,
    level: float = 0.95,
) -> Interval:
    """Return accuracy(first) - accuracy(second) with a paired bootstrap interval.

    Each resample draws samples, not methods, so what the two have in common cancels.

    Args:
        first: Whether the first method is right on each sample.
        second: The same for the second.
        num_resamples: B.
        generator: The only source of randomness.
        level: Share of resamples inside the interval.

    Raises:
        InvalidInput: Different lengths, or no samples.
    """
    _check_pair(first, second)
    difference = first.double() - second.double()
    return bootstrap_interval(
        difference, num_resamples=resample_number(num_resamples), generator=generator, level=level
    )


def _check_pair(first: Tensor, second: Tensor) -> None:
    if len(first) != len(second):
        raise InvalidInput(
            f"first and second must judge the same samples, got {len(first)} and {len(second)}; "
            "score both methods on one split in one order."
        )
