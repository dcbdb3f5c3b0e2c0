"""Counts behind accuracy, recoverability and oracle, on the samples and on their resamples.

n = samples, L = layers, C = classes present, M = L - 1, b = resamples in a chunk.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float64, Int64
from torch import Tensor


@dataclass(frozen=True, eq=False)
class Rates:
    """All rates of one or more (re)samples; NaN where a rate is undefined (no error to recover)."""

    accuracy: Float64[Tensor, "b L"]
    accuracy_per_class: Float64[Tensor, "b L"]
    recoverability: Float64[Tensor, "b M"]
    r_any: Float64[Tensor, " b"]
    oracle: Float64[Tensor, " b"]


class Tally:
    """Which layer is right on which sample, sorted by class so that class sums are sums of slices."""

    def __init__(self, correct: Bool[Tensor, "L n"], labels: Int64[Tensor, " n"]) -> None:
        """Lay out the columns that every rate is a sum of.

        Args:
            correct: Whether each layer is right on each sample.
            labels: Class of each sample, any integers.
        """
        self._order = torch.argsort(labels, stable=True)
        self._class_sizes = torch.unique(labels, return_counts=True)[1].tolist()
        right = correct[:, self._order]
        wrong_last = ~right[-1]
        earlier = right[:-1] & wrong_last
        columns = [right, earlier, earlier.any(dim=0)[None], right.any(dim=0)[None]]
        self._columns = torch.cat(columns).T.double()
        self._num_layers = len(correct)

    def rates(self, counts: Float64[Tensor, "b n"]) -> Rates:
        """Return all rates when sample i is counted ``counts[:, i]`` times.

        Args:
            counts: Non-negative, at least one positive per row.
        """
        counts = counts[:, self._order]
        depth = self._num_layers
        sums = torch.zeros(len(counts), self._columns.shape[1], dtype=torch.float64)
        per_class = torch.zeros(len(counts), depth, dtype=torch.float64)
        present = torch.zeros(len(counts), 1, dtype=torch.float64)
        start = 0
        for size in self._class_sizes:
            rows = slice(start, start + size)
            class_sums = counts[:, rows] @ self._columns[rows]
            total = counts[:, rows].sum(dim=1, keepdim=True)
            sums += class_sums
            per_class += class_sums[:, :depth] / total.clamp(min=1.0)
            present += (total > 0).double()
            start += size
        total = counts.sum(dim=1, keepdim=True)
        errors = total - sums[:, depth - 1 : depth]
        # 0/0 is NaN: without an error there is nothing to recover. With one layer nothing could.
        recovered = sums[:, depth : 2 * depth] / errors
        return Rates(
            accuracy=sums[:, :depth] / total,
            accuracy_per_class=per_class / present,
            recoverability=recovered[:, :-1],
            r_any=recovered[:, -1]
            if depth > 1
            else torch.full((len(counts),), torch.nan, dtype=torch.float64),
            oracle=sums[:, -1] / total[:, 0],
        )
