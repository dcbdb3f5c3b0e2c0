"""Principal axes of the scaled concatenation, found without forming it (Halko, Martinsson and Tropp 2011, algorithm 4.4).

n = rows, W = width of the concatenation, r = components, o = sketch width.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float32, Float64
from torch import Generator, Tensor

from vitgeom.fusion.scaled_rows import ScaledRows
from vitgeom.fusion.staged_rows import staged
from vitgeom.probes.memory import DEFAULT_BYTE_BUDGET
from vitgeom.probes.row_file import RowFile

OVERSAMPLING = 16
POWER_STEPS = 2
SMALLEST_SHARE = 1e-10
"""Directions with less than this share of the largest variance are rounding."""


@dataclass(frozen=True, eq=False)
class PrincipalAxes:
    """Orthonormal directions of largest variance.

    Attributes:
        directions: Columns.
        variances: Mean square of training rows along each, descending.
        captured: Share of the total variance along them.
    """

    directions: Float32[Tensor, "W r"]
    variances: Float64[Tensor, " r"]
    captured: float

    def project(
        self, rows: ScaledRows, *, byte_budget: int = DEFAULT_BYTE_BUDGET
    ) -> Float32[Tensor, "n r"] | RowFile:
        """Return the coordinates of all rows, in a file if they do not fit; one block of rows is in memory at a time.

        Args:
            rows: Scaled as those that the axes were found on.
            byte_budget: Memory to aim for.
        """
        return staged(
            (block @ self.directions for _, block in rows.blocks()),
            num_rows=rows.num_rows,
            width=self.directions.shape[1],
            byte_budget=byte_budget,
        )


def principal_axes(rows: ScaledRows, *, components: int, generator: Generator) -> PrincipalAxes:
    """Return at most ``components`` axes of the (already centred) rows.

    Up to ``components`` + 16 possible directions the result is exact; beyond, a random sketch with two power steps finds the
    leading ones. L2-penalised linear models on all axes are the same as on v itself; leaving out axes of small variance
    changes them little, since there the penalty would hold the weights down.

    Cost: 2 n W o products per pass, three passes over the rows. Memory: one block and 3 W o numbers.

    Args:
        rows: Training rows.
        components: r at most.
        generator: For the sketch.
    """
    sketch = min(components + OVERSAMPLING, rows.width, rows.num_rows)
    basis = torch.randn(rows.width, sketch, generator=generator)
    for _ in range(POWER_STEPS):
        basis = torch.linalg.qr(_gram_product(rows, basis))[0]
    inner = torch.zeros(sketch, sketch, dtype=torch.float64)
    total = 0.0
    for _, block in rows.blocks():
        image = (block @ basis).double()
        inner += image.T @ image
        total += float(block.square().sum(dtype=torch.float64))
    variances, rotation = torch.linalg.eigh(inner / rows.num_rows)
    order = torch.arange(len(variances) - 1, max(-1, len(variances) - 1 - components), -1)
    order = order[variances[order] > SMALLEST_SHARE * variances[-1].clamp(min=0)]
    kept = variances[order]
    captured = float(kept.sum()) * rows.num_rows / total if total > 0 else 1.0
    return PrincipalAxes((basis.double() @ rotation[:, order]).float(), kept, captured)


def _gram_product(rows: ScaledRows, basis: Float32[Tensor, "W o"]) -> Float32[Tensor, "W o"]:
    """Return V'V basis, summed over blocks."""
    total = torch.zeros_like(basis)
    for _, block in rows.blocks():
        total.addmm_(block.T, block @ basis)
    return total
