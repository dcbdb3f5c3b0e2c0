"""The concatenation v that fusion works on: chosen blocks, standardised and scaled, a range of rows at a time.

n = rows, S = blocks (layers, or backbones), D_s = width of block s, W = sum of widths.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import torch
from jaxtyping import Float32, Float64
from torch import Tensor

from vitgeom.probes.layers import RowSource
from vitgeom.probes.row_access import read_rows
from vitgeom.probes.standardise import Standardiser

BLOCK_BYTES = 1 << 25
"""Size of one block of standardised rows."""


@dataclass(frozen=True, eq=False)
class ScaledRows:
    """Rows of v = (s_1 z_1, ..., s_S z_S), z the standardised features; nothing is kept, every block is made when asked for.

    Attributes:
        source: Raw features.
        layers: Which blocks of the source, in this order.
        standardisers: One per chosen block, from training rows.
        scale: s of each chosen block.
    """

    source: RowSource
    layers: tuple[int, ...]
    standardisers: Sequence[Standardiser]
    scale: Float64[Tensor, " S"]

    @property
    def num_rows(self) -> int:
        """The number n of rows."""
        return self.source.num_rows

    @property
    def width(self) -> int:
        """W, the sum of widths."""
        return sum(len(standardiser.mean) for standardiser in self.standardisers)

    @property
    def rows_per_block(self) -> int:
        """Rows that make up one block of about ``BLOCK_BYTES``."""
        return max(16, BLOCK_BYTES // (4 * self.width))

    def scaled(self, scale: Float64[Tensor, " S"]) -> ScaledRows:
        """Return the same rows under other scales."""
        return replace(self, scale=scale)

    def of(self, source: RowSource) -> ScaledRows:
        """Return the rows of another source, standardised and scaled alike."""
        return replace(self, source=source)

    def rows(self, start: int, stop: int) -> Float32[Tensor, "b W"]:
        """Return rows start..stop-1 in float32.

        Raises:
            InvalidInput: A value is NaN or infinite (row and layer named).
        """
        parts = [
            _standardised(read_rows(self.source, layer, start, stop, name="X"), standardiser, float(scale))
            for layer, standardiser, scale in zip(self.layers, self.standardisers, self.scale, strict=True)
        ]
        return torch.cat(parts, dim=1)

    def blocks(self) -> Iterator[tuple[slice, Float32[Tensor, "b W"]]]:
        """Yield all rows in order, a block at a time."""
        for start in range(0, self.num_rows, self.rows_per_block):
            stop = min(start + self.rows_per_block, self.num_rows)
            yield slice(start, stop), self.rows(start, stop)


def _standardised(x: Tensor, standardiser: Standardiser, scale: float) -> Float32[Tensor, "b D"]:
    """Return scale (x - mean) / std, the difference in float64: a large common offset must not cost digits."""
    return (standardiser(x) * scale).float()
