"""All principal axes of the concatenation, from whichever Gram matrix is smaller.

n = rows, W = width of the concatenation, r = axes, v = a row of the concatenation.
"""

from __future__ import annotations

import torch
from jaxtyping import Float64
from torch import Tensor

from vitgeom.fusion.compression import SMALLEST_SHARE, PrincipalAxes
from vitgeom.fusion.scaled_rows import ScaledRows


def exact_axes(rows: ScaledRows) -> PrincipalAxes:
    """Return every axis that carries variance, so that an L2-penalised linear model on the coordinates is the one on v itself.

    With n < W the eigenvectors u of V V' give the directions V'u / |V'u|; else those of V'V are the directions.
    Cost: n W min(n, W) products and an eigendecomposition of order min(n, W), in float64. Memory: V once in float32 if n < W,
    and two square matrices of that order.

    Args:
        rows: Training rows, centred.
    """
    return _from_rows(rows) if rows.num_rows < rows.width else _from_columns(rows)


def _from_rows(rows: ScaledRows) -> PrincipalAxes:
    v = torch.cat([block for _, block in rows.blocks()])
    gram = torch.zeros(len(v), len(v), dtype=torch.float64)
    for columns in v.split(512, dim=1):
        wide = columns.double()
        gram.addmm_(wide, wide.T)
    variances, vectors = _kept(gram / len(v))
    directions = v.T @ vectors.float()
    return PrincipalAxes(directions / directions.norm(dim=0), variances, 1.0)


def _from_columns(rows: ScaledRows) -> PrincipalAxes:
    gram = torch.zeros(rows.width, rows.width, dtype=torch.float64)
    for _, block in rows.blocks():
        wide = block.double()
        gram.addmm_(wide.T, wide)
    variances, vectors = _kept(gram / rows.num_rows)
    return PrincipalAxes(vectors.float(), variances, 1.0)


def _kept(gram: Float64[Tensor, "q q"]) -> tuple[Float64[Tensor, " r"], Float64[Tensor, "q r"]]:
    """Return eigenvalues that are no rounding, descending, and their vectors."""
    values, vectors = torch.linalg.eigh(gram)
    order = torch.arange(len(values) - 1, -1, -1)
    order = order[values[order] > SMALLEST_SHARE * values[-1].clamp(min=0)]
    return values[order], vectors[:, order].contiguous()
