"""Some rows of one layer from whatever features came as.   n = rows, b = rows of a block, L = layers, D = width."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from jaxtyping import Float
from torch import Tensor

from vitgeom.errors import InvalidInput
from vitgeom.probes.given_features import layer_tensor, refuse_non_finite
from vitgeom.probes.layers import LayerSource, RowSource, as_layers


class WholeLayers:
    """Row access to a source without any: the layer asked for last is in memory as a whole."""

    def __init__(self, source: LayerSource, *, name: str) -> None:
        """Read the first layer, which says how many rows there are.

        Args:
            source: Layers.
            name: Name of the argument, for error messages.
        """
        self._source, self._name = source, name
        self._held = (0, self._read(0))
        self.num_rows = len(self._held[1])

    @property
    def num_layers(self) -> int:
        """L, the number of layers."""
        return self._source.num_layers

    def rows(self, layer: int, start: int, stop: int) -> Tensor:
        """Return some rows of one layer, which is read unless it is the one held."""
        if self._held[0] != layer:
            self._held = (layer, self._read(layer))
        return self._held[1][start:stop]

    def _read(self, layer: int) -> Tensor:
        x = layer_tensor(self._source(layer), name=self._name, layer=layer)
        if x.ndim != 2:
            raise InvalidInput(f"{self._name} at layer {layer} must have shape [n, D], got {list(x.shape)}.")
        return x


def has_row_access(x: object) -> bool:
    """Say whether a few rows of a layer can be read without reading all of it.

    Args:
        x: Features; see :data:`vitgeom.probes.layers.Features`.
    """
    return isinstance(as_layers(x, name="X"), RowSource)


def as_rows(x: object, *, name: str) -> RowSource:
    """Return features as a source of rows; one that gives rows itself is returned as it is.

    A tensor, a numpy array or a memory map ``[n, L, D]`` is read block by block, and so is a FunctionLayers made with
    ``read_rows``. Of a source that gives only whole layers one layer is in memory at a time, from the first one on.

    Args:
        x: Features; see :data:`vitgeom.probes.layers.Features`.
        name: Name of the argument, for the error message.

    Raises:
        InvalidInput: Neither features nor a source of them, not three-dimensional, or no layer.
    """
    if isinstance(x, RowSource):
        return x
    source = as_layers(x, name=name)
    return source if isinstance(source, RowSource) else WholeLayers(source, name=name)


def read_rows(
    source: RowSource, layer: int, start: int, stop: int, *, name: str, device: torch.device | None = None
) -> Float[Tensor, "b D"]:
    """Read some rows of one layer and refuse what cannot be computed with.

    Args:
        source: Where the features are.
        layer: Which layer (0-based).
        start: First row.
        stop: Row after the last.
        name: Name of the argument, for the error message.
        device: Where to compute; the features' own device if None.

    Raises:
        InvalidInput: Wrong shape, no columns, not floating point, or a NaN or infinite value (row and layer named).
    """
    x = layer_tensor(source.rows(layer, start, stop), name=name, layer=layer)
    if x.ndim != 2 or len(x) != stop - start or x.shape[1] == 0:
        raise InvalidInput(
            f"{name} at layer {layer} must give [{stop - start}, D] for rows {start}..{stop - 1}, got {list(x.shape)}."
        )
    if not x.is_floating_point():
        raise InvalidInput(
            f"{name} at layer {layer} must be floating point, got {x.dtype}; call .float() first."
        )
    whole = start == 0 and stop == source.num_rows
    refuse_non_finite(x, name=name, layer=layer, first_row=None if whole else start)
    return x if device is None else x.to(device)


def row_blocks(
    source: RowSource, layer: int, *, name: str, block_rows: int, device: torch.device | None = None
) -> Iterator[tuple[int, Float[Tensor, "b D"]]]:
    """Yield (first row, features) of consecutive blocks of one layer, checked as :func:`read_rows` does.

    Args:
        source: Where the features are.
        layer: Which layer (0-based).
        name: Name of the argument, for the error message.
        block_rows: Rows of a block; the last may be shorter.
        device: Where to compute; the features' own device if None.
    """
    for start in range(0, source.num_rows, block_rows):
        stop = min(start + block_rows, source.num_rows)
        yield start, read_rows(source, layer, start, stop, name=name, device=device)
