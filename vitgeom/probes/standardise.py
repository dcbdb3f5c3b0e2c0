"""Column means and deviations that features are standardised with.   n = rows, D = width."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float, Float64
from torch import Tensor

from vitgeom.errors import InvalidInput


@dataclass(frozen=True, eq=False)
class Standardiser:
    """Maps x to (x - mean) / std, column by column, in float64."""

    mean: Float64[Tensor, " D"]
    std: Float64[Tensor, " D"]

    def __call__(self, x: Float[Tensor, "n D"]) -> Float64[Tensor, "n D"]:
        """Return standardised features; the input is left alone.

        Args:
            x: Raw features of any floating dtype.

        Raises:
            InvalidInput: Another width than the one seen in training.
        """
        if x.shape[1] != len(self.mean):
            raise InvalidInput(f"features must have the training width {len(self.mean)}, got {x.shape[1]}.")
        centred = x.to(torch.float64, copy=True).sub_(self.mean.to(x.device))
        return centred.div_(self.std.to(x.device))


def fit_standardiser(x: Float[Tensor, "n D"], *, weight: Float64[Tensor, " n"] | None = None) -> Standardiser:
    """Return the (weighted) mean and population deviation of each column.

    A column that never changes has deviation 0 and is divided by 1 instead: it becomes exactly zero on the training
    rows and so contributes nothing.

    Args:
        x: Finite features; two passes in float64, chunked by columns so that no float64 copy of all of x is made.
        weight: Non-negative row weights; rows of weight 0 count neither for the mean nor for being constant.
    """
    if weight is not None:
        x, weight = x[weight > 0], weight[weight > 0]
        share = (weight / weight.sum()).to(x.device)
    else:
        share = torch.full((len(x),), 1.0 / len(x), dtype=torch.float64, device=x.device)
    means, stds = [], []
    for columns in x.split(max(1, 8_000_000 // max(1, len(x))), dim=1):
        wide = columns.double()
        constant = columns.amin(dim=0) == columns.amax(dim=0)
        mean = torch.where(constant, wide[0], share @ wide)
        std = (share @ (wide - mean).square()).sqrt()
        means.append(mean)
        stds.append(torch.where(constant | (std == 0), 1.0, std))
    return Standardiser(torch.cat(means).cpu(), torch.cat(stds).cpu())
