"""Class scores that each layer's probe reads out, as standardised inputs of an encoder.

n = rows, S = layers, K = classes, q = S K.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float32, Float64
from torch import Tensor

from vitgeom.fusion.evidence import Evidence
from vitgeom.probes.layers import RowSource
from vitgeom.probes.row_access import row_blocks
from vitgeom.probes.standardise import Standardiser

BLOCK_ROWS = 4096


@dataclass(frozen=True, eq=False)
class Readouts:
    """Linear maps of raw layer features to class scores.

    Attributes:
        layers: Which layers.
        standardisers: Of the features of each.
        weight: Coefficients of each layer's probe, ``[D_s, K]``.
        bias: Its intercepts.
    """

    layers: tuple[int, ...]
    standardisers: Sequence[Standardiser]
    weight: Sequence[Float64[Tensor, "_ K"]]
    bias: Float64[Tensor, "S K"]

    @classmethod
    def of(cls, evidence: Evidence, layers: Sequence[int]) -> Readouts:
        """Take the probes of some layers."""
        probes = [evidence.probe(layer) for layer in layers]
        return cls(
            tuple(layers),
            [probe.standardiser for probe in probes],
            [probe.weight for probe in probes],
            torch.stack([probe.bias for probe in probes]),
        )

    def scores(self, rows: RowSource) -> Float32[Tensor, "n q"]:
        """Return the scores of all rows by all layers, centred over classes, layer after layer."""
        parts = []
        for place, layer in enumerate(self.layers):
            found = [
                self.standardisers[place](x) @ self.weight[place] + self.bias[place]
                for _, x in row_blocks(rows, layer, name="X", block_rows=BLOCK_ROWS)
            ]
            parts.append(torch.cat(found).float())
        return side_by_side(parts)


def side_by_side(scores: Sequence[Float32[Tensor, "n K"]]) -> Float32[Tensor, "n q"]:
    """Return the scores of several layers next to each other, each centred over classes: a constant says nothing."""
    return torch.cat([part - part.mean(dim=1, keepdim=True) for part in scores], dim=1)
