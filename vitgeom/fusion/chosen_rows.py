"""Some rows of a source, as a source.   b = rows of a block, D = width."""

from __future__ import annotations

from jaxtyping import Float, Int64
from torch import Tensor

from vitgeom.probes.given_features import layer_tensor, refuse_non_finite
from vitgeom.probes.layers import RowSource


class ChosenRows:
    """Row i of this is row ``index[i]`` of the source; a row that is not finite is named by its number there."""

    def __init__(self, source: RowSource, index: Int64[Tensor, " n"], *, name: str) -> None:
        """Keep references; rows are read when asked for.

        Args:
            source: All rows.
            index: Ascending row numbers.
            name: Name of the argument that the source came as, for error messages.
        """
        self._source, self._index, self._name = source, index, name

    @property
    def num_rows(self) -> int:
        """The number of chosen rows."""
        return len(self._index)

    @property
    def num_layers(self) -> int:
        """L, the number of layers."""
        return self._source.num_layers

    def rows(self, layer: int, start: int, stop: int) -> Float[Tensor, "b D"]:
        """Return chosen rows start..stop-1 of one layer; what lies between them is read and dropped.

        Raises:
            InvalidInput: A NaN or infinite value among the chosen ones.
        """
        wanted = self._index[start:stop]
        if not len(wanted):
            return self._source.rows(layer, 0, 0)
        first = int(wanted[0])
        read = layer_tensor(
            self._source.rows(layer, first, int(wanted[-1]) + 1), name=self._name, layer=layer
        )
        chosen = read[wanted - first]
        if chosen.ndim == 2:  # other shapes are refused by whoever reads rows
            refuse_non_finite(chosen, name=self._name, layer=layer, numbers=wanted)
        return chosen
