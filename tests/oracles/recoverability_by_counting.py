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


def correction_shares(
    predictions: Sequence[Sequence[int]], labels: Sequence[int], *, credit: str
) -> list[float]:
    """Return q of all layers but the last: each error that k earlier layers correct hands out a credit of 1."""
    earlier = len(predictions) - 1
    given = [0.0] * earlier
    for i in errors_of(predictions[-1], labels):
        right = [layer for layer in range(earlier) if predictions[layer][i] == labels[i]]
        if right:
            winners = {"shared": right, "earliest": right[:1], "deepest": right[-1:]}[credit]
            for layer in winners:
                given[layer] += 1 / len(winners)
    return [part / sum(given) for part in given]


def pair_counts(
    first: Sequence[int], second: Sequence[int], labels: Sequence[int]
) -> tuple[int, int, int, int]:
    """Return N11, N10, N01, N00: both right, only the first, only the second, neither."""
    verdicts = [(a == y, b == y) for a, b, y in zip(first, second, labels, strict=True)]
    return tuple(
        verdicts.count(which) for which in ((True, True), (True, False), (False, True), (False, False))
    )


def angle_disagreement(
    logits: Sequence[Sequence[Sequence[float]]], labels: Sequence[int], *, layer: int, centred: bool
) -> float:
    """Return the mean over the last layer's errors of 1 - cos(logits_layer, logits_last)."""

    def direction(which: int, sample: int) -> list[float]:
        values = logits[which][sample]
        mean = sum(values) / len(values) if centred else 0.0
        return [value - mean for value in values]

    last = len(logits) - 1
    said = [max(range(len(row)), key=row.__getitem__) for row in logits[last]]
    distances = []
    for sample in errors_of(said, labels):
        a, b = direction(layer, sample), direction(last, sample)
        dot = sum(x * y for x, y in zip(a, b, strict=True))
        distances.append(1 - dot / (sum(x * x for x in a) * sum(y * y for y in b)) ** 0.5)
    return sum(distances) / len(distances)
