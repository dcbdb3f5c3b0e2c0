"""How far the logits of earlier layers point away from the last layer's, over its errors (A5 of the methods).

n = samples, L = layers, K = classes, M = L - 1, b = resamples in a chunk, E = samples the last layer gets wrong.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Bool, Float, Float64
from torch import Tensor

from vitgeom.bootstrap import Interval, percentile_intervals


@dataclass(frozen=True)
class GeometricDisagreement:
    """Mean of 1 - cos(logits_l, logits_L) over E: 0 = same direction, 1 = orthogonal, 2 = opposite.

    Attributes:
        centred: Mean over E and all earlier layers; each sample's logits lose their mean over classes first, which no softmax sees.
        raw: The same without centring; depends on a constant that the model's probabilities do not have.
        by_layer: The centred form, layers 1..L-1 apart.
    """

    centred: Interval
    raw: Interval
    by_layer: tuple[Interval, ...]

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON."""
        return {
            "centred": self.centred.to_json(),
            "raw": self.raw.to_json(),
            "by_layer": [part.to_json() for part in self.by_layer],
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> GeometricDisagreement:
        """Rebuild from :meth:`to_json`."""
        return cls(
            centred=Interval.from_json(data["centred"]),
            raw=Interval.from_json(data["raw"]),
            by_layer=tuple(Interval.from_json(part) for part in data["by_layer"]),
        )


def cosine_distance(logits: Float[Tensor, "L n K"], *, centred: bool) -> Float64[Tensor, "M n"]:
    """Return 1 - cos between each earlier layer's logits and the last layer's; logits of length 0 count as orthogonal.

    Args:
        logits: Last layer last.
        centred: Take each sample's mean over classes away first.
    """

    def direction(layer: int) -> Tensor:
        wide = logits[layer].double()
        return wide - wide.mean(dim=1, keepdim=True) if centred else wide

    last = direction(len(logits) - 1)
    distances = torch.ones(len(logits) - 1, len(last), dtype=torch.float64)
    for layer in range(
        len(logits) - 1
    ):  # one at a time: all layers in float64 would double the memory of the logits
        distances[layer] -= torch.nn.functional.cosine_similarity(direction(layer), last, dim=1)
    return distances


class GeometryRates:
    """Means over E, on the samples and on their resamples."""

    def __init__(self, logits: Float[Tensor, "L n K"], wrong: Bool[Tensor, " n"]) -> None:
        """Lay out the columns that the means are sums of.

        Args:
            logits: Last layer last, finite.
            wrong: Whether the last layer gets the sample wrong.
        """
        by_layer, raw = cosine_distance(logits, centred=True), cosine_distance(logits, centred=False)
        self._columns = (
            torch.cat([by_layer, by_layer.mean(dim=0)[None], raw.mean(dim=0)[None]]).T * wrong[:, None]
        )
        self._wrong = wrong.double()

    def rates(self, counts: Float64[Tensor, "b n"]) -> Float64[Tensor, "b m"]:
        """Return M means by layer, their mean, and the mean of the raw form; NaN without an error.

        Args:
            counts: How often each sample counts.
        """
        return (counts @ self._columns) / (counts @ self._wrong)[:, None]

    def summary(
        self, here: Float64[Tensor, " m"], there: Float64[Tensor, "B m"], *, level: float
    ) -> GeometricDisagreement | None:
        """Return the means with intervals, or None if there is no error.

        Args:
            here: Rates of the samples themselves.
            there: Rates of all resamples.
            level: Of the intervals.
        """
        found = percentile_intervals(here, there, level=level)
        known = tuple(part for part in found if part is not None)
        if len(known) < len(found):
            return None
        return GeometricDisagreement(centred=known[-2], raw=known[-1], by_layer=known[:-2])
