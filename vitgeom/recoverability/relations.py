"""All that the layers' verdicts say about each other, from one pass over the resamples.   L = layers, n = samples, K = classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Float64, Int64
from torch import Tensor

from vitgeom.bootstrap import Interval, percentile_intervals
from vitgeom.recoverability.corrections import CorrectionRates, Corrections, Credit
from vitgeom.recoverability.diversity import Diversity, DiversityRates
from vitgeom.recoverability.geometric_disagreement import GeometricDisagreement, GeometryRates
from vitgeom.recoverability.top_accuracy import TOP, TopRates


@dataclass(frozen=True)
class Found:
    """What there is; None where it is undefined."""

    accuracy_top5: tuple[Interval, ...] | None
    corrections: dict[Credit, Corrections] | None
    geometry: GeometricDisagreement | None
    diversity: Diversity | None


class Relations:
    """Top-5 accuracy, corrections, geometry and diversity of the same samples."""

    def __init__(
        self,
        logits: Float[Tensor, "L n K"],
        labels: Int64[Tensor, " n"],
        *,
        predictions: Int64[Tensor, "L n"],
        correct: Bool[Tensor, "L n"],
    ) -> None:
        """Prepare what is defined for this many layers and classes.

        Args:
            logits: Last layer last.
            labels: Class indices, -1 for an unknown class.
            predictions: Class index said by each layer.
            correct: Whether it is right.
        """
        wrong, several = ~correct[-1], len(logits) > 1
        self._top = TopRates(logits.cpu(), labels) if logits.shape[2] > TOP else None
        self._corrections = CorrectionRates(correct[:-1] & wrong) if several else None
        self._geometry = GeometryRates(logits.cpu(), wrong) if several else None
        self._diversity = DiversityRates(predictions, correct) if several else None

    def rates(self, counts: Float64[Tensor, "b n"]) -> dict[str, Tensor]:
        """Return the rates of every part, by its name, when sample i is counted ``counts[:, i]`` times.

        Args:
            counts: Non-negative, at least one positive per row.
        """
        parts = {
            "top": self._top,
            "corrections": self._corrections,
            "geometry": self._geometry,
            "diversity": self._diversity,
        }
        return {name: part.rates(counts) for name, part in parts.items() if part is not None}

    def summary(
        self, here: Mapping[str, Tensor], there: Sequence[Mapping[str, Tensor]], *, level: float
    ) -> Found:
        """Return every part with intervals.

        Args:
            here: Rates of the samples themselves, one row.
            there: Rates of the resamples, chunk by chunk.
            level: Of the intervals.
        """

        def both(name: str) -> tuple[Tensor, Tensor]:
            return here[name][0], torch.cat([chunk[name] for chunk in there])

        top, corrections, geometry, diversity = self._top, self._corrections, self._geometry, self._diversity
        return Found(
            accuracy_top5=None if top is None else _intervals(*both("top"), level=level),
            corrections=None
            if corrections is None
            else corrections.summary(*both("corrections"), level=level),
            geometry=None if geometry is None else geometry.summary(*both("geometry"), level=level),
            diversity=None if diversity is None else diversity.summary(*both("diversity"), level=level),
        )


def _intervals(here: Tensor, there: Tensor, *, level: float) -> tuple[Interval, ...]:
    return tuple(part for part in percentile_intervals(here, there, level=level) if part is not None)
