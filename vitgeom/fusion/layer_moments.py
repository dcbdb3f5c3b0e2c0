"""Mean and deviation of every coordinate of every layer, read once, a block of rows at a time.

n = rows, b = rows of a block, D = width.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from jaxtyping import Float64
from torch import Tensor

from vitgeom.fusion.staged_rows import spans
from vitgeom.probes.layers import Features, RowSource
from vitgeom.probes.row_access import as_rows, read_rows


@dataclass(frozen=True, eq=False)
class LayerMoments:
    """What a set of rows looks like, coordinate by coordinate.

    Attributes:
        num_rows: n behind them.
        means: Of each layer ``[D]``.
        deviations: Of each layer ``[D]``, population deviations; exactly 0 where a coordinate never changes.
    """

    num_rows: int
    means: tuple[Float64[Tensor, " _"], ...]
    deviations: tuple[Float64[Tensor, " _"], ...]

    @property
    def widths(self) -> tuple[int, ...]:
        """Width of each layer."""
        return tuple(len(mean) for mean in self.means)


def layer_moments(X: Features, *, name: str = "X") -> LayerMoments:
    """Return mean and population deviation of every coordinate of every layer, in float64.

    Blocks are merged by the pairwise update of Chan, Golub and LeVeque (1979): rows are read once, and a large common offset costs no digits.

    Args:
        X: Features ``[n, L, D]``, or a source of them with at least one row.
        name: Name of the argument, for error messages.

    Raises:
        InvalidInput: No features, or a NaN or infinite value (row and layer named).
    """
    source = as_rows(X, name=name)
    found = [_moments(source, layer, name=name) for layer in range(source.num_layers)]
    return LayerMoments(
        num_rows=source.num_rows,
        means=tuple(mean for mean, _ in found),
        deviations=tuple(deviation for _, deviation in found),
    )


def _moments(
    source: RowSource, layer: int, *, name: str
) -> tuple[Float64[Tensor, " D"], Float64[Tensor, " D"]]:
    count = 0
    mean = squares = low = high = torch.zeros(0, dtype=torch.float64)
    for block_bD in _blocks(source, layer, name=name):
        own, size = block_bD.mean(dim=0), len(block_bD)
        spread = (block_bD - own).square_().sum(dim=0)
        if not count:
            mean, squares = own, spread
            low, high = block_bD.amin(dim=0), block_bD.amax(dim=0)
        else:
            apart = own - mean
            mean = mean + apart * (size / (count + size))
            squares = squares + spread + apart.square() * (count * size / (count + size))
            low, high = low.minimum(block_bD.amin(dim=0)), high.maximum(block_bD.amax(dim=0))
        count += size
    # Rounding would give a column that never changes a tiny deviation, and dividing by that would make noise of it.
    constant = low == high
    return torch.where(constant, low, mean), torch.where(constant, 0.0, (squares / count).sqrt())


def _blocks(source: RowSource, layer: int, *, name: str) -> Iterator[Float64[Tensor, "b D"]]:
    """Yield all rows of a layer in float64; the first row alone says how wide it is."""
    width = read_rows(source, layer, 0, 1, name=name).shape[1]
    for where in spans(source.num_rows, width):
        yield read_rows(source, layer, where.start, where.stop, name=name).double()
