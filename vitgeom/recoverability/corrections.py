"""Which earlier layers correct the last one, and how evenly (A4 of the methods).

n = samples, M = L - 1 earlier layers, b = resamples in a chunk, E = samples the last layer gets wrong.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, get_args

import torch
from jaxtyping import Bool, Float64
from torch import Tensor

from vitgeom.bootstrap import Interval, percentile_intervals

Credit = Literal["shared", "earliest", "deepest"]
CREDITS: tuple[Credit, ...] = get_args(Credit)


@dataclass(frozen=True)
class Corrections:
    """How the corrections of E are spread over the earlier layers under one rule of credit.

    Attributes:
        share: q_l of layers 1..L-1: its credit over the credit of all; they sum to 1.
        entropy: H(q) = -sum q log q over log(L - 1): 1 = even, 0 = one layer does it all; None with one earlier layer.
    """

    share: tuple[Interval, ...]
    entropy: Interval | None

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON."""
        entropy = None if self.entropy is None else self.entropy.to_json()
        return {"share": [part.to_json() for part in self.share], "entropy": entropy}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Corrections:
        """Rebuild from :meth:`to_json`."""
        entropy = data["entropy"]
        return cls(
            share=tuple(Interval.from_json(part) for part in data["share"]),
            entropy=None if entropy is None else Interval.from_json(entropy),
        )


def credit_of_layers(right: Bool[Tensor, "M n"], *, credit: Credit) -> Float64[Tensor, "M n"]:
    """Return what each earlier layer is credited with for each sample; a corrected sample gives 1 in all, another 0.

    Args:
        right: Whether the sample is an error of the last layer that this layer gets right.
        credit: ``"shared"`` splits 1 evenly among the k layers that are right; ``"earliest"`` and ``"deepest"`` give it to the first
            or last of them.
    """
    count = right.sum(dim=0)
    if credit == "shared":
        return right.double() / count.clamp(min=1)
    if credit == "deepest":
        return credit_of_layers(right.flip(0), credit="earliest").flip(0)
    first = right & (right.cumsum(dim=0) == 1)
    return first.double()


class CorrectionRates:
    """Shares and entropies of all rules, on the samples and on their resamples."""

    def __init__(self, right: Bool[Tensor, "M n"]) -> None:
        """Lay out one column per rule and layer.

        Args:
            right: Whether the sample is an error of the last layer that this layer gets right.
        """
        self._num_layers = len(right)
        self._columns = torch.cat([credit_of_layers(right, credit=rule) for rule in CREDITS]).T.contiguous()

    def rates(self, counts: Float64[Tensor, "b n"]) -> Float64[Tensor, "b m"]:
        """Return, for each rule, M shares and the entropy; NaN without any correction (entropy also for M = 1).

        Args:
            counts: How often each sample counts.
        """
        parts = []
        for credit in (counts @ self._columns).split(self._num_layers, dim=1):
            share = credit / credit.sum(dim=1, keepdim=True)  # 0/0 is NaN
            entropy = -torch.xlogy(share, share).sum(dim=1, keepdim=True)
            parts += [
                share,
                entropy / math.log(self._num_layers) if self._num_layers > 1 else entropy * torch.nan,
            ]
        return torch.cat(parts, dim=1)

    def summary(
        self, here: Float64[Tensor, " m"], there: Float64[Tensor, "B m"], *, level: float
    ) -> dict[Credit, Corrections] | None:
        """Return the corrections under every rule, or None if there is no correction.

        Args:
            here: Rates of the samples themselves.
            there: Rates of all resamples.
            level: Of the intervals.
        """
        found: dict[Credit, Corrections] = {}
        for place, rule in enumerate(CREDITS):
            start = place * (self._num_layers + 1)
            columns = slice(start, start + self._num_layers + 1)
            parts = percentile_intervals(here[columns], there[:, columns], level=level)
            share = tuple(part for part in parts[:-1] if part is not None)
            if len(share) < self._num_layers:
                return None
            found[rule] = Corrections(share=share, entropy=parts[-1])
        return found
