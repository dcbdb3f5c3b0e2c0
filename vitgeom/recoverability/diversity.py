"""How differently the layers err, pair by pair, over the whole test split (A6 of the methods).

Source: L. Kuncheva and C. Whitaker, Measures of Diversity in Classifier Ensembles, Machine Learning 51, 2003.

n = samples, L = layers, P = L (L - 1) / 2 pairs, b = resamples in a chunk.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import torch
from jaxtyping import Bool, Float64, Int64
from torch import Tensor

from vitgeom.bootstrap import Interval, percentile_intervals

Matrix = tuple[tuple[float | None, ...], ...]


@dataclass(frozen=True)
class Diversity:
    """Means over all pairs of layers with intervals, and every pair.

    Attributes:
        disagreement: Share of samples that exactly one of the two gets right.
        q_statistic: (N11 N00 - N01 N10) / (N11 N00 + N01 N10): 1 = right and wrong together, 0 = independent; mean over the pairs where
            it is defined, None if it is defined nowhere.
        double_fault: Share of samples that both get wrong.
        agreement_by_pair: [L, L] share of samples where the two predict the same class (1 on the diagonal).
        disagreement_by_pair: [L, L].
        q_by_pair: [L, L], None where a denominator is 0.
        double_fault_by_pair: [L, L]; the diagonal is the layer's error rate.
    """

    disagreement: Interval
    q_statistic: Interval | None
    double_fault: Interval
    agreement_by_pair: Matrix
    disagreement_by_pair: Matrix
    q_by_pair: Matrix
    double_fault_by_pair: Matrix

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON."""
        return {
            field.name: value.to_json() if isinstance(value := getattr(self, field.name), Interval) else value
            for field in fields(self)
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Diversity:
        """Rebuild from :meth:`to_json`."""
        parts: dict[str, Any] = {}
        for name, value in data.items():
            if isinstance(value, dict):
                parts[name] = Interval.from_json(value)
            else:
                parts[name] = value if value is None else tuple(tuple(row) for row in value)
        return cls(**parts)


class DiversityRates:
    """Pair statistics on the samples and on their resamples."""

    def __init__(self, predictions: Int64[Tensor, "L n"], correct: Bool[Tensor, "L n"]) -> None:
        """Lay out one column per layer and one per pair; everything else follows from their sums.

        Args:
            predictions: Class index said by each layer.
            correct: Whether it is right.
        """
        self._predictions = predictions
        self._num_layers = len(correct)
        self._first, self._second = torch.triu_indices(self._num_layers, self._num_layers, offset=1)
        both = correct[self._first] & correct[self._second]
        self._columns = torch.cat([correct, both]).T.double()

    def pairs(self, counts: Float64[Tensor, "b n"]) -> tuple[Tensor, Tensor, Tensor]:
        """Return disagreement, Q (NaN where undefined) and double fault of every pair, each ``[b, P]``.

        Args:
            counts: How often each sample counts.
        """
        total = counts.sum(dim=1, keepdim=True)
        sums = counts @ self._columns
        right, both = sums[:, : self._num_layers], sums[:, self._num_layers :]
        only_first, only_second = right[:, self._first] - both, right[:, self._second] - both
        neither = total - both - only_first - only_second
        agree, differ = both * neither, only_first * only_second
        return (only_first + only_second) / total, (agree - differ) / (agree + differ), neither / total

    def rates(self, counts: Float64[Tensor, "b n"]) -> Float64[Tensor, "b 3"]:
        """Return the means over pairs of disagreement, Q and double fault.

        Args:
            counts: How often each sample counts.
        """
        disagreement, q, double_fault = self.pairs(counts)
        return torch.stack([disagreement.mean(dim=1), q.nanmean(dim=1), double_fault.mean(dim=1)], dim=1)

    def summary(
        self, here: Float64[Tensor, " 3"], there: Float64[Tensor, "B 3"], *, level: float
    ) -> Diversity | None:
        """Return the means with intervals and all pairs, or None with a single layer.

        Args:
            here: Rates of the samples themselves.
            there: Rates of all resamples.
            level: Of the intervals.
        """
        disagreement, q_statistic, double_fault = percentile_intervals(here, there, level=level)
        if disagreement is None or double_fault is None:
            return None
        ones = torch.ones(1, self._predictions.shape[1], dtype=torch.float64)
        by_pair = [values[0] for values in self.pairs(ones)]
        same = (self._predictions[self._first] == self._predictions[self._second]).double().mean(dim=1)
        errors = 1 - self._columns[:, : self._num_layers].mean(dim=0)
        ones_L, zeros_L = torch.ones(self._num_layers), torch.zeros(self._num_layers)
        return Diversity(
            disagreement=disagreement,
            q_statistic=q_statistic,
            double_fault=double_fault,
            agreement_by_pair=self._matrix(same, diagonal=ones_L),
            disagreement_by_pair=self._matrix(by_pair[0], diagonal=zeros_L),
            q_by_pair=self._matrix(by_pair[1], diagonal=ones_L),
            double_fault_by_pair=self._matrix(by_pair[2], diagonal=errors),
        )

    def _matrix(self, pairs: Tensor, *, diagonal: Tensor) -> Matrix:
        whole = torch.diag(diagonal.double())
        whole[self._first, self._second] = pairs
        whole[self._second, self._first] = pairs
        return tuple(tuple(None if value != value else value for value in row) for row in whole.tolist())
