"""Layer features, one layer at a time, so that a store never has to be in memory as a whole.

n = rows, L = layers, D = width.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, runtime_checkable

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from vitgeom.errors import InvalidInput


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


Features = Tensor | np.ndarray | LayerSource
"""What features may come as: an array ``[n, L, D]``, or a source that reads one layer at a time."""


class TensorLayers:
    """Layers of one tensor that is already in memory."""

    def __init__(self, x: Float[Tensor, "n L D"]) -> None:
        """Keep a reference; nothing is copied until a layer is asked for."""
        self._x = x

    @property
    def num_layers(self) -> int:
        """L, the number of layers."""
        return self._x.shape[1]

    def __call__(self, layer: int) -> Float[Tensor, "n D"]:
        """Return one layer as a contiguous matrix."""
        return self._x[:, layer].contiguous()


class FunctionLayers:
    """Layers that a function reads on demand, for example from a feature store."""

    def __init__(self, read: Callable[[int], Tensor | np.ndarray], *, num_layers: int) -> None:
        """Remember how to read.

        Args:
            read: Layer index (0-based) to features ``[n, D]``; called a few times per layer.
            num_layers: L.
        """
        if num_layers < 1:
            raise InvalidInput(f"num_layers must be >= 1, got {num_layers}.")
        self._read = read
        self._num_layers = num_layers

    @property
    def num_layers(self) -> int:
        """L, the number of layers."""
        return self._num_layers

    def __call__(self, layer: int) -> Tensor:
        """Read one layer."""
        return layer_tensor(self._read(layer), name="features", layer=layer)


def as_layers(x: object, *, name: str) -> LayerSource:
    """Return a tensor or an array ``[n, L, D]`` as a source; a source is returned as it is.

    Args:
        x: Features; see :data:`Features`. Of a numpy array one layer at a time is copied, so it may be a memory map.
        name: Name of the argument, for the error message.

    Raises:
        InvalidInput: Neither features nor a source of them, not three-dimensional, or no layer.
    """
    if not isinstance(x, Tensor | np.ndarray):
        if isinstance(x, LayerSource):
            return x
        raise InvalidInput(
            f"{name} must be a tensor or a numpy array [n, L, D], or a source of layers, got {type(x).__name__}; "
            "stack features with torch.stack(layers, dim=1), or read them on demand with FunctionLayers."
        )
    if x.ndim != 3 or x.shape[1] == 0:
        raise InvalidInput(
            f"{name} must have shape [n, L, D] with L >= 1, got {list(x.shape)}; one layer alone is {name}[:, None, :]."
        )
    if isinstance(x, Tensor):
        return TensorLayers(x)
    return FunctionLayers(
        lambda layer: layer_tensor(x[:, layer], name=name, layer=layer), num_layers=x.shape[1]
    )


def float_tensor(x: np.ndarray, *, name: str) -> Tensor:
    """Return a contiguous copy of an array as a tensor; the array may be read-only, turned round or of foreign byte order.

    Args:
        x: Real numbers in floating point.
        name: Name of the argument, for the error message.

    Raises:
        InvalidInput: The array is of another kind, or wider than 64 bits.
    """
    if x.dtype.kind != "f" or x.dtype.itemsize > 8:
        raise InvalidInput(
            f"{name} must be floating point of at most 64 bits, got a numpy array of {x.dtype}; "
            "call .astype(numpy.float32) first."
        )
    return torch.from_numpy(np.array(x, dtype=x.dtype.newbyteorder("="), order="C"))


def layer_tensor(x: object, *, name: str, layer: int) -> Tensor:
    """Return what a source gave for one layer as a tensor.

    Args:
        x: A tensor or a numpy array.
        name: Name of the argument, for the error message.
        layer: Which layer it is.

    Raises:
        InvalidInput: It is neither, or an array without real numbers.
    """
    if isinstance(x, np.ndarray):
        return float_tensor(x, name=f"{name} at layer {layer}")
    if not isinstance(x, Tensor):
        raise InvalidInput(
            f"{name} at layer {layer} must be a tensor or a numpy array [n, D], got {type(x).__name__}; "
            "return torch.as_tensor(...) from the function that reads it."
        )
    return x


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


def refuse_non_finite(x: Float[Tensor, "n D"], *, name: str, layer: int | None) -> None:
    """Raise if any value is NaN or infinite, naming the first such row.

    Args:
        x: Features of one layer.
        name: Name of the argument, for the error message.
        layer: Which layer they are of, None where there is only one.

    Raises:
        InvalidInput: A value is not finite.
    """
    if bool(torch.isfinite(x.sum(dtype=torch.float64))):
        return
    bad = (~torch.isfinite(x)).any(dim=1).nonzero()[:, 0]
    if len(bad) == 0:  # the sum overflowed although every value is finite
        return
    where = "" if layer is None else f" at layer {layer}"
    raise InvalidInput(
        f"{name} must be finite, got NaN or infinite values in {len(bad)} row(s){where}, first in row {int(bad[0])}; "
        "recompute those features in float32, or leave the rows out."
    )
