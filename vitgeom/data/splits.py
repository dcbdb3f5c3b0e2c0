"""Stratified splits with a fixed seed: each class is shared out on its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from vitgeom.errors import InvalidInput
from vitgeom.seeding import derive_seed

FRACTIONS: Mapping[str, float] = {"train": 0.6, "val": 0.2, "test": 0.2}


@dataclass(frozen=True)
class StratifiedSplit:
    """Which rows go where.

    Attributes:
        rows: Split name -> sorted int64 rows; disjoint, and together all rows.
        singletons: Classes with one row, which went to the first split.
    """

    rows: Mapping[str, np.ndarray]
    singletons: tuple[str, ...]


def stratified_split(
    labels: Sequence[str] | np.ndarray, *, seed: int, fractions: Mapping[str, float] = FRACTIONS
) -> StratifiedSplit:
    """Share out each class by the fractions, in an order drawn from the seed and the name of the class.

    A class with at least as many rows as there are splits appears in every split; a smaller one fills the splits in the
    order of ``fractions``. Adding or removing one class moves no row of another.

    Args:
        labels: [n] class names or numbers.
        seed: Decides the order inside each class.
        fractions: Split name -> share; positive, summing to 1. The first split takes single rows.

    Returns:
        The rows of each split.

    Raises:
        InvalidInput: The fractions are not positive or do not sum to 1.
    """
    shares = np.array(list(fractions.values()), dtype=np.float64)
    if len(shares) == 0 or shares.min() <= 0 or abs(shares.sum() - 1) > 1e-9:
        raise InvalidInput(f"fractions must be positive and sum to 1, got {dict(fractions)}.")
    names = np.array([str(label) for label in labels])
    parts: dict[str, list[np.ndarray]] = {split: [] for split in fractions}
    singletons = []
    for name in np.unique(names):
        members = np.flatnonzero(names == name)
        if len(members) == 1:
            singletons.append(str(name))
        order = np.random.default_rng(derive_seed(seed, "split", str(name))).permutation(members)
        bounds = np.cumsum(_counts(len(members), shares))[:-1]
        for split, rows in zip(fractions, np.split(order, bounds), strict=True):
            parts[split].append(rows)
    rows_of = {
        split: np.sort(np.concatenate([np.empty(0, np.int64), *rows])) for split, rows in parts.items()
    }
    return StratifiedSplit(rows=rows_of, singletons=tuple(singletons))


def _counts(total: int, shares: np.ndarray) -> np.ndarray:
    """Round ``total * shares`` to whole rows (largest remainder), then leave no split empty where rows suffice."""
    if total < len(shares):
        return (np.arange(len(shares)) < total).astype(np.int64)
    counts = np.floor(total * shares + 1e-9).astype(np.int64)
    by_remainder = np.argsort(counts - total * shares, kind="stable")
    counts[by_remainder[: total - counts.sum()]] += 1
    for empty in np.flatnonzero(counts == 0):
        counts[counts.argmax()] -= 1
        counts[empty] += 1
    return counts
