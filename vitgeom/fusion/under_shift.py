"""How fitted methods fare on a test set that they were not fitted for (A12).   n = samples, R = seeds, M = methods, S = conditions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float64, Int64
from torch import Generator, Tensor

from vitgeom.bootstrap import Interval, bootstrap_intervals
from vitgeom.errors import InvalidInput

REFERENCES = ("vfusion", "last_layer")
"""Methods that every other one is compared with, where they are among the fitted ones."""


@dataclass(frozen=True)
class ShiftScore:
    """One method.

    Attributes:
        name: Of the method.
        accuracy: With its bootstrap 95 % interval over samples; with several seeds the mean over them.
        differences: Name of a reference -> accuracy minus the reference's, with a paired bootstrap 95 % interval; the method itself is left out.
    """

    name: str
    accuracy: Interval
    differences: Mapping[str, Interval]

    def to_json(self) -> dict[str, Any]:
        """Return the row as plain JSON."""
        return {
            "name": self.name,
            "accuracy": self.accuracy.to_json(),
            "differences": {name: item.to_json() for name, item in self.differences.items()},
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> ShiftScore:
        """Rebuild from :meth:`to_json`; other keys are left alone."""
        differences = {name: Interval.from_json(item) for name, item in data["differences"].items()}
        return cls(str(data["name"]), Interval.from_json(data["accuracy"]), differences)


def share_right(predicted: Int64[Tensor, "R n"], target: Int64[Tensor, " t"]) -> Float64[Tensor, " n"]:
    """Return for each sample the share of seeds whose prediction is right.

    Args:
        predicted: Class indices, a line per seed.
        target: The true ones, -1 for a class that training never showed: nobody is right on it.

    Raises:
        InvalidInput: They are not of the same samples.
    """
    if predicted.shape[1] != len(target):
        raise InvalidInput(
            f"predicted and target must be of the same samples, got {predicted.shape[1]} and {len(target)}."
        )
    return (predicted == target).double().mean(dim=0)


def shift_scores(
    right: Mapping[str, Float64[Tensor, " _"]],
    *,
    references: Sequence[str] = REFERENCES,
    num_resamples: int,
    generator: Generator,
) -> tuple[ShiftScore, ...]:
    """Return accuracy and paired differences of all methods; they share the resamples, so what they have in common cancels.

    Of one condition ``right`` is :func:`share_right`. The mean of these over S conditions of the same samples gives the mean corruption
    accuracy: one resample then draws images, and takes each with all of its conditions.

    Args:
        right: Share of right answers per sample, by method.
        references: Those that are no key of ``right`` are passed over.
        num_resamples: Of the samples.
        generator: The only source of randomness.

    Raises:
        InvalidInput: No method, no samples, or other numbers of samples.
    """
    counts = {name: len(values) for name, values in right.items()}
    if len(set(counts.values())) != 1:
        raise InvalidInput(f"right needs at least one method, and as many samples of each, got {counts}.")
    names = list(right)
    mean_nM = torch.stack(list(right.values()), dim=1)
    known = [name for name in references if name in right]
    parts = [mean_nM, *(mean_nM - mean_nM[:, [names.index(name)]] for name in known)]
    intervals = bootstrap_intervals(torch.cat(parts, dim=1), num_resamples=num_resamples, generator=generator)
    return tuple(
        ShiftScore(
            name=name,
            accuracy=intervals[number],
            differences={
                reference: intervals[place * len(names) + number]
                for place, reference in enumerate(known, start=1)
                if reference != name
            },
        )
        for number, name in enumerate(names)
    )
