"""Spearman's rank correlation, image by image, with ties averaged.   B = images, N = tokens."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Float64
from torch import Tensor

from vitgeom.errors import InvalidInput


@dataclass(frozen=True, eq=False)
class RankCorrelation:
    """One coefficient per image.

    Attributes:
        rho: In [-1, 1]; 0 where it is undefined.
        defined: Whether neither side is constant over the tokens.
    """

    rho: Float64[Tensor, " b"]
    defined: Bool[Tensor, " b"]

    @property
    def mean(self) -> float | None:
        """Over images where it is defined; None if it is nowhere."""
        return float(self.rho[self.defined].mean()) if bool(self.defined.any()) else None

    @property
    def deviation(self) -> float | None:
        """Sample standard deviation over them; None below two."""
        return float(self.rho[self.defined].std()) if int(self.defined.sum()) > 1 else None

    def with_nan(self) -> Float64[Tensor, " b"]:
        """Return one number per image, NaN where undefined, as learners report figures."""
        return torch.where(self.defined, self.rho, torch.nan)


def rank_correlation(a: Float[Tensor, "b n"], b: Float[Tensor, "b n"]) -> RankCorrelation:
    """Return Pearson's correlation of the ranks of each row.

    Args:
        a: One number per token.
        b: Likewise.

    Raises:
        InvalidInput: An entry has no rank, since it is not a number.
    """
    for name, each in (("a", a), ("b", b)):
        if bool(each.isnan().any()):
            raise InvalidInput(f"{name} must hold numbers to be ranked, got NaN; leave these images out.")
    x, y = (_centred(average_ranks(each)) for each in (a, b))
    scale = (x.square().sum(dim=1) * y.square().sum(dim=1)).sqrt()
    defined = scale > 0
    return RankCorrelation((x * y).sum(dim=1) / torch.where(defined, scale, 1.0), defined)


def average_ranks(a: Float[Tensor, "b n"]) -> Float64[Tensor, "b n"]:
    """Return ranks from 1; equal entries share the mean of theirs.

    Args:
        a: Any numbers.
    """
    ordered = a.sort(dim=1).values.contiguous()
    below = torch.searchsorted(ordered, a.contiguous())
    up_to = torch.searchsorted(ordered, a.contiguous(), right=True)
    return (below + up_to + 1).double() / 2


def _centred(ranks: Tensor) -> Tensor:
    return ranks - ranks.mean(dim=1, keepdim=True)
