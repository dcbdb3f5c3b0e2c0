"""Layer features, one layer at a time or a few rows of one, so that a store never has to be in memory as a whole.

n = rows, b = rows of a block, L = layers, D = width.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, runtime_checkable

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from vitgeom.errors import InvalidInput
from vitgeom.probes.given_features import (
    float_tensor,
    layer_tensor,
    refuse_non_finite,
    refuse_without_values,
)
from vitgeom.probes.mapped_pages import release_pages


@runtime_checkable
class LayerSource(Protocol):
    """What probes read: ``source(l)`` is the feature matrix ``[n, D]`` of layer l (0-based)."""

    @property
    def num_layers(self) -> int:
        """L, the number of layers."""
        ...

    def __call__(self, layer: int) -> Tensor:
        """Return the features ``[n, D]`` of one layer."""
        ...


@runtime_checkable
class RowSource(Protocol):
    """What streaming reads: ``source.rows(l, start, stop)`` is the feature matrix ``[b, D]`` of some rows of layer l."""

    @property
    def num_rows(self) -> int:
        """The number n of rows."""
        ...

    @property
    def num_layers(self) -> int:
        """L, the number of layers."""
        ...

    def rows(self, layer: int, start: int, stop: int) -> Tensor:
        """Return the features ``[b, D]`` of rows start..stop-1 of one layer."""
        ...


Features = Tensor | np.ndarray | LayerSource | RowSource
"""What features may come as: an array ``[n, L, D]``, or a source that reads one layer, or some rows of one, at a time."""


class TensorLayers:
    """Layers of one tensor that is already in memory."""

    def __init__(self, x: Float[Tensor, "n L D"]) -> None:
        """Keep a reference; nothing is copied until a layer is asked for."""
        self._x = x

    @property
    def num_layers(self) -> int:
        """L, the number of layers."""
        return self._x.shape[1]

    @property
    def num_rows(self) -> int:
        """The number n of rows."""
        return len(self._x)

    def __call__(self, layer: int) -> Float[Tensor, "n D"]:
        """Return one layer as a contiguous matrix."""
        return self._x[:, layer].contiguous()

    def rows(self, layer: int, start: int, stop: int) -> Float[Tensor, "b D"]:
        """Return some rows of one layer as a contiguous matrix."""
        return self._x[start:stop, layer].contiguous()


class ArrayLayers:
    """Layers of a numpy array, which may be a memory map: pages that were read are given back at once."""

    def __init__(self, x: np.ndarray, *, name: str) -> None:
        """Keep a reference; what is asked for is copied.

        Args:
            x: Features ``[n, L, D]``.
            name: Name of the argument, for error messages.
        """
        self._x, self._name = x, name

    @property
    def num_layers(self) -> int:
        """L, the number of layers."""
        return self._x.shape[1]

    @property
    def num_rows(self) -> int:
        """The number n of rows."""
        return len(self._x)

    def __call__(self, layer: int) -> Tensor:
        """Return a copy of one layer."""
        return self.rows(layer, 0, self.num_rows)

    def rows(self, layer: int, start: int, stop: int) -> Tensor:
        """Return a copy of some rows of one layer."""
        copy = float_tensor(self._x[start:stop, layer], name=f"{self._name} at layer {layer}")
        release_pages(self._x)
        return copy


class FunctionLayers:
    """Layers that a function reads on demand, for example from a feature store.

    Made with ``read_rows`` it has ``num_rows`` and ``rows`` as well and so is a :class:`RowSource`; without, it has
    neither and can only be read a whole layer at a time.
    """

    num_rows: int
    rows: Callable[[int, int, int], Tensor]

    def __init__(
        self,
        read: Callable[[int], Tensor | np.ndarray] | None = None,
        *,
        num_layers: int,
        read_rows: Callable[[int, int, int], Tensor | np.ndarray] | None = None,
        num_rows: int | None = None,
    ) -> None:
        """Remember how to read.

        Args:
            read: Layer index (0-based) to features ``[n, D]``; called a few times per layer. Not needed with ``read_rows``.
            num_layers: L.
            read_rows: Layer index, first row and row after the last to features ``[b, D]``: always the same values for
                the same rows, which are read several times.
            num_rows: The number n of rows, needed with ``read_rows``.

        Raises:
            InvalidInput: No layer, nothing to read with, or only one of ``read_rows`` and ``num_rows``.
        """
        if num_layers < 1:
            raise InvalidInput(f"num_layers must be >= 1, got {num_layers}.")
        if (read_rows is None) != (num_rows is None):
            raise InvalidInput(
                f"read_rows and num_rows must come together, got num_rows={num_rows} "
                f"{'without' if read_rows is None else 'with'} read_rows."
            )
        if read is None and read_rows is None:
            raise InvalidInput(
                "FunctionLayers needs read (a whole layer) or read_rows (some rows of one), got neither."
            )
        self._read = read
        self._num_layers = num_layers
        if read_rows is not None and num_rows is not None:
            self._read_rows, self.num_rows, self.rows = read_rows, num_rows, self._some_rows

    @property
    def num_layers(self) -> int:
        """L, the number of layers."""
        return self._num_layers

    def __call__(self, layer: int) -> Tensor:
        """Read one layer."""
        if self._read is None:
            return self._some_rows(layer, 0, self.num_rows)
        return layer_tensor(self._read(layer), name="features", layer=layer)

    def _some_rows(self, layer: int, start: int, stop: int) -> Tensor:
        return layer_tensor(self._read_rows(layer, start, stop), name="features", layer=layer)


def as_layers(x: object, *, name: str) -> LayerSource:
    """Return a tensor or an array ``[n, L, D]`` as a source; a source is returned as it is.

    Args:
        x: Features; see :data:`Features`. Of a numpy array one layer at a time is copied, so it may be a memory map.
        name: Name of the argument, for the error message.

    Raises:
        InvalidInput: Neither features nor a source of them, not three-dimensional, no layer, or a tensor that is not dense.
    """
    if not isinstance(x, Tensor | np.ndarray):
        if isinstance(x, LayerSource):
            return x
        if isinstance(x, RowSource):
            return FunctionLayers(num_layers=x.num_layers, read_rows=x.rows, num_rows=x.num_rows)
        raise InvalidInput(
            f"{name} must be a tensor or a numpy array [n, L, D], or a source of layers, got {type(x).__name__}; "
            "stack features with torch.stack(layers, dim=1), or read them on demand with FunctionLayers."
        )
    if x.ndim != 3 or x.shape[1] == 0:
        raise InvalidInput(
            f"{name} must have shape [n, L, D] with L >= 1, got {list(x.shape)}; one layer alone is {name}[:, None, :]."
        )
    if isinstance(x, Tensor):
        refuse_without_values(x, name=name)
        return TensorLayers(x.detach())
    return ArrayLayers(x, name=name)


def read_layer(
    source: LayerSource, layer: int, *, name: str, rows: int, device: torch.device | None = None
) -> Tensor:
    """Read one layer and refuse what no probe can be fitted on.

    Args:
        source: Where the features are.
        layer: Which layer (0-based).
        name: Name of the argument, for the error message.
        rows: n, as the labels have it.
        device: Where to compute; the features' own device if None.

    Returns:
        Finite floating-point features ``[n, D]``.

    Raises:
        InvalidInput: Wrong shape, no columns, not floating point, or a NaN or infinite value (row and layer named).
    """
    x = layer_tensor(source(layer), name=name, layer=layer)
    if x.ndim != 2 or x.shape[0] != rows or x.shape[1] == 0:
        raise InvalidInput(
            f"{name} at layer {layer} must have shape [{rows}, D] to match its {rows} labels, got {list(x.shape)}."
        )
    if not x.is_floating_point():
        raise InvalidInput(
            f"{name} at layer {layer} must be floating point, got {x.dtype}; call .float() first."
        )
    refuse_non_finite(x, name=name, layer=layer)
    return x if device is None else x.to(device)
