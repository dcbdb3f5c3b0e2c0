"""How methods compare over several datasets and backbones at once, with intervals.

n = test samples of a dataset, M = methods, B = resamples.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float64
from torch import Tensor

from vitgeom.bootstrap import (
    Interval,
    check_resampling,
    percentile_interval,
    resample_counts,
    resample_number,
)
from vitgeom.errors import InvalidInput, UnknownName
from vitgeom.seeding import generator_for

ORACLE, BEST_LAYER = "oracle", "chosen layer"
"""Names of what is no method: any layer right, and the layer that validation chose."""
LEVEL = 0.95


@dataclass(frozen=True, eq=False)
class PairOutcomes:
    """Who was right on one dataset under one backbone.

    Attributes:
        dataset: Pairs of the same dataset have the same samples in the same order.
        right: Per sample, the share of a method's seeds that are right.
    """

    dataset: str
    right: Mapping[str, Float64[Tensor, " n"]]


@dataclass(frozen=True, eq=False)
class Pooled:
    """Means over pairs, every pair counting alike, and the same on each resample.

    Attributes:
        names: What is there on every pair.
        num_pairs: Datasets under backbones.
        num_samples: Test samples of all datasets, each counted once.
        means: Mean accuracies.
        resampled: The same on resampled datasets.
    """

    names: tuple[str, ...]
    num_pairs: int
    num_samples: int
    means: Float64[Tensor, " M"]
    resampled: Float64[Tensor, "B M"]

    def accuracy(self, name: str) -> Interval:
        """Return the mean accuracy of a method.

        Args:
            name: Of a method, or :data:`ORACLE` or :data:`BEST_LAYER`.

        Raises:
            UnknownName: It is not there on every pair.
        """
        column = self._column(name)
        return _interval(self.means[column], self.resampled[:, column])

    def difference(self, one: str, other: str) -> Interval:
        """Return the mean accuracy of one method minus that of another; both on the same resamples.

        Args:
            one: The first.
            other: The second.

        Raises:
            UnknownName: One of them is not there on every pair.
        """
        first, second = self._column(one), self._column(other)
        return _interval(
            self.means[first] - self.means[second], self.resampled[:, first] - self.resampled[:, second]
        )

    def gap_closed(self, name: str) -> Interval | None:
        """Return which share of the way from the chosen layer to the oracle a method goes, of mean accuracies; None without a gap.

        Args:
            name: Of a method.

        Raises:
            UnknownName: It is not there on every pair.
        """
        share = [
            _share(
                values[..., self._column(name)],
                values[..., self._column(BEST_LAYER)],
                values[..., self._column(ORACLE)],
            )
            for values in (self.means, self.resampled)
        ]
        return percentile_interval(float(share[0]), share[1], level=LEVEL)

    def _column(self, name: str) -> int:
        if name not in self.names:
            raise UnknownName("method", name, self.names)
        return self.names.index(name)


def pool(pairs: Sequence[PairOutcomes], *, seed: int, num_resamples: int = 1000) -> Pooled:
    """Return means over pairs of everything that is there on all of them, with resamples for intervals.

    A resample draws the samples of each dataset anew, once for all its pairs and methods: backbones that see the same images are not
    independent, and what methods have in common cancels in their difference. Datasets are not resampled: the interval is about
    these datasets and backbones, not about others.

    Cost: one product ``[B, n] [n, M]`` per pair.

    Args:
        pairs: At least one.
        seed: Decides the resamples.
        num_resamples: B.

    Raises:
        InvalidInput: No pairs, nothing that is there on all of them, or pairs of one dataset with different numbers of samples.
    """
    num_resamples, names = resample_number(num_resamples), _names_on_all(pairs)
    columns = [torch.stack([pair.right[name].double() for name in names], dim=1) for pair in pairs]
    by_dataset: dict[str, list[Tensor]] = {}
    for pair, column in zip(pairs, columns, strict=True):
        by_dataset.setdefault(pair.dataset, []).append(column)
    total = torch.zeros(num_resamples, len(names), dtype=torch.float64)
    for dataset, members in by_dataset.items():
        total += _resampled_sums(dataset, members, seed=seed, num_resamples=num_resamples)
    return Pooled(
        names=names,
        num_pairs=len(pairs),
        num_samples=sum(len(members[0]) for members in by_dataset.values()),
        means=torch.stack([column.mean(dim=0) for column in columns]).mean(dim=0),
        resampled=total / len(pairs),
    )


def _names_on_all(pairs: Sequence[PairOutcomes]) -> tuple[str, ...]:
    if not pairs:
        raise InvalidInput("pairs must hold at least 1 dataset under a backbone, got none.")
    names = tuple(name for name in pairs[0].right if all(name in pair.right for pair in pairs))
    if not names:
        raise InvalidInput(
            f"pairs must have at least one method in common, got {[list(pair.right) for pair in pairs]}."
        )
    return names


def _resampled_sums(
    dataset: str, members: Sequence[Float64[Tensor, "n M"]], *, seed: int, num_resamples: int
) -> Float64[Tensor, "B M"]:
    """Return the sum of the accuracies of a dataset's pairs on each resample."""
    counts = sorted({len(member) for member in members})
    if len(counts) > 1:
        raise InvalidInput(
            f"pairs of one dataset must have the same test samples, got {counts} samples for {dataset}."
        )
    check_resampling(counts[0], num_resamples=num_resamples, level=LEVEL)
    sums = torch.stack(list(members)).sum(dim=0)
    drawn = resample_counts(
        counts[0], num_resamples=num_resamples, generator=generator_for(seed, f"pooled {dataset}")
    )
    return torch.cat([part @ sums for part in drawn]) / counts[0]


def _interval(value: Tensor, resampled: Tensor) -> Interval:
    found = percentile_interval(float(value), resampled, level=LEVEL)
    assert found is not None, "means of finite numbers are finite"
    return found


def _share(fused: Tensor, best: Tensor, oracle: Tensor) -> Tensor:
    """Return (fused - best) / (oracle - best), NaN without a gap."""
    gap = oracle - best
    return torch.where(gap > 0, (fused - best) / torch.where(gap > 0, gap, 1.0), math.nan)
