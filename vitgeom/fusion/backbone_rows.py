"""The last tokens of several backbones as the blocks of one source.   n = rows, b = rows of a block, B = backbones, D = width."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from torch import Tensor

from vitgeom.errors import InvalidInput
from vitgeom.probes.byte_budget import in_memory
from vitgeom.probes.given_features import layer_tensor
from vitgeom.probes.layers import RowSource
from vitgeom.probes.row_access import as_rows


class BackboneRows:
    """Block j of this is the last layer of backbone j; widths may differ."""

    def __init__(self, sources: Sequence[RowSource], *, in_memory: bool = False) -> None:
        """Keep references.

        Args:
            sources: One per backbone, of equally many rows.
            in_memory: Whether all of them are in memory anyway.
        """
        self._sources, self.in_memory = tuple(sources), in_memory

    @property
    def num_rows(self) -> int:
        """The number n of rows."""
        return self._sources[0].num_rows

    @property
    def num_layers(self) -> int:
        """B, the number of backbones."""
        return len(self._sources)

    def rows(self, layer: int, start: int, stop: int) -> Float[Tensor, "b D"]:
        """Return last-layer features of some rows of one backbone."""
        source = self._sources[layer]
        return source.rows(source.num_layers - 1, start, stop)


def backbone_rows(x: object, *, name: str) -> BackboneRows:
    """Return the last tokens of several backbones as one source.

    Args:
        x: A list or tuple with one entry per backbone: ``[n, D]``, ``[n, L, D]``, or a source of layers, whose last layer is taken. What this
            function returned is returned as it is.
        name: Name of the argument, for the error message.

    Raises:
        InvalidInput: No list, fewer than two backbones, an entry that is no features, or different numbers of rows.
    """
    if isinstance(x, BackboneRows):
        return x
    if not isinstance(x, list | tuple):
        raise InvalidInput(
            f"{name} must be a list with the features of each backbone, got {type(x).__name__}; one backbone alone is for "
            "the vertical methods."
        )
    if len(x) < 2:
        raise InvalidInput(
            f"{name} must hold at least 2 backbones, got {len(x)}; for the last layer of one backbone take LastLayerClassifier, "
            'or VFusionClassifier(selection="last") for the same encoder and head.'
        )
    sources = [_source(part, name=f"{name}[{number}]") for number, part in enumerate(x)]
    counts = [source.num_rows for source in sources]
    if len(set(counts)) > 1:
        raise InvalidInput(
            f"the backbones of {name} must have the same rows in the same order, got {counts}."
        )
    return BackboneRows(sources, in_memory=all(in_memory(part) for part in x))


def _source(part: object, *, name: str) -> RowSource:
    if isinstance(part, np.ndarray) and part.ndim == 2:
        part = layer_tensor(part, name=name, layer=0)
    return as_rows(part[:, None] if isinstance(part, Tensor) and part.ndim == 2 else part, name=name)
