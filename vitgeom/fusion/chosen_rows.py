"""Some rows of a source, as a source.   b = rows of a block, D = width."""

from __future__ import annotations

from jaxtyping import Float, Int64
from torch import Tensor

from vitgeom.probes.layers import RowSource


class ChosenRows:
    """Row i of this is row ``index[i]`` of the source."""

    def __init__(self, source: RowSource, index: Int64[Tensor, " n"]) -> None:
        """Keep references; rows are read when asked for.

        Args:
            source: All rows.
            index: Ascending row numbers.
        """
        self._source, self._index = source, index

    @property
    def num_rows(self) -> int:
        """The number of chosen rows."""
        return len(self._index)

    @property
    def num_layers(self) -> int:
        """L, the number of layers."""
        return self._source.num_layers

    def rows(self, layer: int, start: int, stop: int) -> Float[Tensor, "b D"]:
        """Return chosen rows start..stop-1 of one layer; what lies between them is read and dropped."""
        wanted = self._index[start:stop]
        if not len(wanted):
            return self._source.rows(layer, 0, 0)
        first = int(wanted[0])
        return self._source.rows(layer, first, int(wanted[-1]) + 1)[wanted - first]
