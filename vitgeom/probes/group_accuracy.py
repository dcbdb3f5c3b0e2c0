"""Accuracy per sub-population: the worst group and the mean of groups (A12).   M = methods, n = samples, G = groups, B = resamples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float64, Int64
from torch import Generator, Tensor

from vitgeom.bootstrap import Interval, check_resampling, percentile_intervals, resample_counts
from vitgeom.errors import InvalidInput


@dataclass(frozen=True)
class GroupAccuracy:
    """Accuracies of one method, with intervals.

    Attributes:
        per_group: Name -> accuracy, for the groups that have samples.
        worst: The smallest of them.
        worst_group: Its name; of equal ones the first.
        mean: Their mean, every group counting alike.
    """

    per_group: dict[str, Interval]
    worst: Interval
    worst_group: str
    mean: Interval


@dataclass(frozen=True)
class GroupReport:
    """What the groups of one test split say about all methods.

    Attributes:
        methods: One per row of the predictions.
        counts: Name -> number of samples, for the groups that have some.
        absent: Names of the groups without samples: nothing is known about them, and worst and mean leave them out.
        without_group: Samples that belong to none; they are left out as well.
    """

    methods: tuple[GroupAccuracy, ...]
    counts: dict[str, int]
    absent: tuple[str, ...]
    without_group: int


def group_accuracy(
    predictions: Int64[Tensor, "M n"],
    targets: Int64[Tensor, " t"],
    groups: Int64[Tensor, " g"],
    *,
    names: Sequence[str],
    num_resamples: int = 1000,
    generator: Generator,
    level: float = 0.95,
) -> GroupReport:
    """Return accuracy per group, its minimum and its mean over groups, with percentile intervals.

    a_mg = mean over samples of group g of [prediction of method m is right]; worst_m = min_g a_mg; mean_m = mean_g a_mg. A resample draws
    each group's samples anew and keeps its size, so every group is in every resample; all methods share the resamples. The minimum of noisy
    numbers lies below the minimum of their expectations: with small groups of equal accuracy the interval of ``worst`` reaches lower than
    a look at one group suggests, and says so honestly.

    Args:
        predictions: Class per method and sample.
        targets: True class per sample.
        groups: Index into ``names`` per sample; -1 where there is none.
        names: [G] of the sub-populations (``ImageDataset.subpopulations``).
        num_resamples: B.
        generator: The only source of randomness.
        level: Share of resamples inside the intervals.

    Raises:
        InvalidInput: Lengths differ, a group has no name, no sample has a group, or settings are out of range.
    """
    if len(targets) != predictions.shape[1]:
        raise InvalidInput(
            f"predictions and targets must be of the same samples, got {predictions.shape[1]} and {len(targets)}."
        )
    return group_means(
        (predictions == targets).double(),
        groups,
        names=names,
        num_resamples=num_resamples,
        generator=generator,
        level=level,
    )


def group_means(
    right: Float64[Tensor, "M n"],
    groups: Int64[Tensor, " g"],
    *,
    names: Sequence[str],
    num_resamples: int = 1000,
    generator: Generator,
    level: float = 0.95,
) -> GroupReport:
    """Return the same for methods that are right on a sample more or less often: with several seeds, the share of them that is.

    Args:
        right: Per method and sample, 0 .. 1.
        groups: Index into ``names`` per sample; -1 where there is none.
        names: [G] of the sub-populations.
        num_resamples: B.
        generator: The only source of randomness.
        level: Share of resamples inside the intervals.

    Raises:
        InvalidInput: Lengths differ, a group has no name, no sample has a group, or settings are out of range.
    """
    _check(right, groups, names)
    present = torch.unique(groups[groups >= 0]).tolist()
    right_nM = right.T
    members = [right_nM[groups == number] for number in present]
    check_resampling(len(groups), num_resamples=num_resamples, level=level)
    means_GM = torch.stack([rows_kM.mean(dim=0) for rows_kM in members])
    resampled_BGM = torch.stack(
        [_resampled_means(rows_kM, num_resamples=num_resamples, generator=generator) for rows_kM in members],
        dim=1,
    )
    shown = [names[number] for number in present]
    return GroupReport(
        methods=tuple(
            _method(shown, means_GM[:, method], resampled_BGM[:, :, method], level=level)
            for method in range(len(right))
        ),
        counts={name: len(rows_kM) for name, rows_kM in zip(shown, members, strict=True)},
        absent=tuple(name for number, name in enumerate(names) if number not in present),
        without_group=int((groups < 0).sum()),
    )


def _resampled_means(
    rows_kM: Float64[Tensor, "k M"], *, num_resamples: int, generator: Generator
) -> Float64[Tensor, "B M"]:
    counts = resample_counts(len(rows_kM), num_resamples=num_resamples, generator=generator)
    return torch.cat([part_bk @ rows_kM for part_bk in counts]) / len(rows_kM)


def _method(
    names: Sequence[str],
    means_G: Float64[Tensor, " G"],
    resampled_BG: Float64[Tensor, "B G"],
    *,
    level: float,
) -> GroupAccuracy:
    values = torch.cat([means_G, means_G.min()[None], means_G.mean()[None]])
    resampled = torch.cat(
        [resampled_BG, resampled_BG.min(dim=1, keepdim=True).values, resampled_BG.mean(dim=1, keepdim=True)],
        dim=1,
    )
    intervals = [item for item in percentile_intervals(values, resampled, level=level) if item is not None]
    assert len(intervals) == len(values), "every group has samples in every resample"
    *per_group, worst, mean = intervals
    return GroupAccuracy(dict(zip(names, per_group, strict=True)), worst, names[int(means_G.argmin())], mean)


def _check(right: Tensor, groups: Tensor, names: Sequence[str]) -> None:
    if right.shape[1] != len(groups):
        raise InvalidInput(
            f"predictions and groups must be of the same samples, got {right.shape[1]} and {len(groups)}."
        )
    if not names:
        raise InvalidInput(
            "names is empty: the dataset has no sub-populations, and its groups, if any, are origins. Open one that names some, "
            "such as DatasetRef('spurious_scenes') or a folder with metadata."
        )
    if len(groups) == 0 or int(groups.max()) < 0:
        raise InvalidInput(
            "groups are all -1: no sample belongs to a sub-population. Evaluate a split that has some."
        )
    low, high = int(groups.min()), int(groups.max())
    if low < -1 or high >= len(names):
        raise InvalidInput(
            f"groups span {low}..{high}, but must be -1 or an index into the {len(names)} names."
        )
