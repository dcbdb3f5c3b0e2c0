"""Means, variances and covariance of columns, of rows in memory or in a file.   n = rows, w = columns."""

from __future__ import annotations

import torch
from jaxtyping import Float, Float64
from torch import Tensor

from vitgeom.fusion.staged_rows import blocks
from vitgeom.probes.row_file import RowFile


def column_means(x: Float[Tensor, "n w"] | RowFile) -> Float64[Tensor, " w"]:
    """Return the mean of each column in float64.

    Args:
        x: At least one row.
    """
    total = torch.zeros(x.shape[1], dtype=torch.float64)
    for _, block in blocks(x):
        total += block.double().sum(dim=0)
    return total / len(x)


def variance(x: Float[Tensor, "n w"] | RowFile) -> Float64[Tensor, " w"]:
    """Return the mean squared deviation of each column from its mean, in float64.

    Args:
        x: At least one row; a file is read twice.
    """
    if isinstance(x, Tensor):
        return x.double().var(dim=0, correction=0)
    mean, total = column_means(x), torch.zeros(x.shape[1], dtype=torch.float64)
    for _, block in blocks(x):
        total += (block.double() - mean).square_().sum(dim=0)
    return total / len(x)


def covariance(x: Float[Tensor, "n w"] | RowFile) -> Float64[Tensor, "w w"]:
    """Return the mean of the products of deviations, in float64; cost n w^2 products.

    Args:
        x: At least one row; a file is read twice.
    """
    mean, total = column_means(x), torch.zeros(x.shape[1], x.shape[1], dtype=torch.float64)
    for _, block in blocks(x):
        centred = block.double() - mean
        total += centred.T @ centred
    return total / len(x)
