"""Layers that stay in memory once they were read, where all of them fit: methods read the same rows many times.

n = rows, L = layers, D = width, b = rows of a block.
"""

from __future__ import annotations

from torch import Tensor

from vitgeom.probes import FunctionLayers

HELD_BYTES = 2**30
"""Largest split that is held; of a larger one every block is read from the store whenever it is asked for."""


def held_bytes(*, num_rows: int, num_layers: int, width: int) -> int:
    """Return what holding a split takes: 4 n L D bytes, or nothing if it is too large to be held."""
    size = 4 * num_rows * num_layers * width
    return size if size <= HELD_BYTES else 0


def held_layers(source: FunctionLayers, *, num_rows: int, width: int) -> FunctionLayers:
    """Return the same layers, each kept in memory from its first reading on, or the source itself if they are too large.

    Args:
        source: Rows of one split; it must give float32.
        num_rows: n.
        width: D.
    """
    if not held_bytes(num_rows=num_rows, num_layers=source.num_layers, width=width):
        return source
    kept: dict[int, Tensor] = {}

    def read_rows(layer: int, start: int, stop: int) -> Tensor:
        if layer not in kept:
            kept[layer] = source.rows(layer, 0, num_rows)
        return kept[layer][start:stop]

    return FunctionLayers(num_layers=source.num_layers, read_rows=read_rows, num_rows=num_rows)
