"""Column means and deviations that features are standardised with.   n = rows, b = rows of a block, D = width."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from jaxtyping import Float, Float64
from torch import Tensor

from vitgeom.errors import InvalidInput
from vitgeom.probes.row_file import RowFile


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

    Raises:
        InvalidInput: Features so large that their squares overflow.
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
    return _within_range(Standardiser(torch.cat(means).cpu(), torch.cat(stds).cpu()))


def stream_standardiser(
    x: RowFile, *, weight: Float64[Tensor, " n"] | None = None, chunk_rows: int
) -> Standardiser:
    """Return what :func:`fit_standardiser` does, reading the rows twice block by block.

    Args:
        x: Finite features in a file.
        weight: Non-negative row weights; rows of weight 0 count neither for the mean nor for being constant.
        chunk_rows: Rows in float64 at a time.

    Raises:
        InvalidInput: Features so large that their squares overflow.
    """
    total = float(len(x)) if weight is None else float(weight.sum())
    mean = torch.zeros(x.shape[1], dtype=torch.float64, device=x.device)
    low, high = torch.full_like(mean, torch.inf), torch.full_like(mean, -torch.inf)
    for wide, share in _weighted_blocks(x, weight, chunk_rows):
        mean += share @ wide / total
        low, high = low.minimum(wide.amin(dim=0)), high.maximum(wide.amax(dim=0))
    constant = low == high
    mean = torch.where(constant, low, mean)
    variance = torch.zeros_like(mean)
    for wide, share in _weighted_blocks(x, weight, chunk_rows):
        variance += share @ wide.sub_(mean).square_() / total
    std = variance.sqrt()
    return _within_range(Standardiser(mean.cpu(), torch.where(constant | (std == 0), 1.0, std).cpu()))


def _within_range(found: Standardiser) -> Standardiser:
    """Refuse float64 features whose squares overflow: divided by an infinite deviation they would all be 0 and seem to say nothing."""
    bad = (~torch.isfinite(found.std)).nonzero()[:, 0]
    if len(bad):
        raise InvalidInput(
            f"features must be small enough for their squares to be finite (about 1e150), got larger ones in column {int(bad[0])}; "
            "divide them all by one number first."
        )
    return found


def _weighted_blocks(
    x: RowFile, weight: Float64[Tensor, " n"] | None, chunk_rows: int
) -> Iterator[tuple[Float64[Tensor, "b D"], Float64[Tensor, " b"]]]:
    """Yield consecutive rows of positive weight in float64, with their weights."""
    for start in range(0, len(x), chunk_rows):
        rows = slice(start, start + chunk_rows)
        wide = x[rows].to(torch.float64)
        share = wide.new_ones(len(wide)) if weight is None else weight[rows].to(x.device)
        counted = share > 0
        if bool(counted.all()):
            yield wide, share
        elif bool(counted.any()):
            yield wide[counted], share[counted]
