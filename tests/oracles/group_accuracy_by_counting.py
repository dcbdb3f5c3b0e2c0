"""Accuracy per group with Python loops."""

from __future__ import annotations

from collections.abc import Sequence


def per_group(predictions: Sequence[int], targets: Sequence[int], groups: Sequence[int]) -> dict[int, float]:
    """Return group -> accuracy for the groups that occur; -1 is none."""
    rates = {}
    for group in sorted(set(groups) - {-1}):
        rows = [i for i, g in enumerate(groups) if g == group]
        rates[group] = sum(predictions[i] == targets[i] for i in rows) / len(rows)
    return rates


def worst_of(rates: dict[int, float]) -> float:
    return min(rates.values())


def mean_of(rates: dict[int, float]) -> float:
    return sum(rates.values()) / len(rates)
