"""Recoverability with Python sets and loops."""

from __future__ import annotations

from collections.abc import Sequence


def errors_of(predictions: Sequence[int], labels: Sequence[int]) -> set[int]:
    return {i for i, (said, true) in enumerate(zip(predictions, labels, strict=True)) if said != true}


def recoverability(predictions: Sequence[Sequence[int]], labels: Sequence[int]) -> tuple[list[float], float]:
    """Return R_l of all layers but the last, and R_any."""
    wrong = errors_of(predictions[-1], labels)
    right = [{i for i in wrong if layer[i] == labels[i]} for layer in predictions[:-1]]
    return [len(part) / len(wrong) for part in right], len(set().union(*right)) / len(wrong)


def oracle_accuracy(predictions: Sequence[Sequence[int]], labels: Sequence[int]) -> float:
    return sum(any(layer[i] == y for layer in predictions) for i, y in enumerate(labels)) / len(labels)


def accuracy_per_class(predictions: Sequence[int], labels: Sequence[int]) -> float:
    """Mean over the classes that occur."""
    rates = []
    for k in sorted(set(labels)):
        rows = [i for i, y in enumerate(labels) if y == k]
        rates.append(sum(predictions[i] == k for i in rows) / len(rows))
    return sum(rates) / len(rates)
