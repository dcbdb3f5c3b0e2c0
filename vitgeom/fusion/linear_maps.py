"""One linear map per chosen layer, from standardised features to class scores.

S = chosen layers, b = rows of a block, D = width, K = classes, z = standardised features.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float64
from torch import Tensor

from vitgeom.errors import InvalidInput
from vitgeom.fusion.evidence import Evidence
from vitgeom.probes.layers import RowSource
from vitgeom.probes.row_access import read_rows
from vitgeom.probes.standardise import Standardiser

BLOCK_BYTES = 1 << 25
"""Size of one block of standardised rows and of its scores."""

_PARTS = ("mean", "std", "weight", "bias")


@dataclass(frozen=True, eq=False)
class LinearMaps:
    """Scores of layer s are W_s' z_s + b_s.

    Attributes:
        layers: Which layers of the source, first to last.
        standardisers: One per chosen layer.
        weights: ``[D_s, K]`` each; widths may differ.
        biases: ``[K]`` each.
    """

    layers: tuple[int, ...]
    standardisers: tuple[Standardiser, ...]
    weights: tuple[Float64[Tensor, "_ K"], ...]
    biases: tuple[Float64[Tensor, " K"], ...]

    @property
    def num_classes(self) -> int:
        """K."""
        return len(self.biases[0])

    @property
    def width(self) -> int:
        """Sum of the chosen layers' widths."""
        return sum(len(weight) for weight in self.weights)

    @property
    def num_parameters(self) -> int:
        """Weights and biases; the standardisation could be folded into them."""
        return sum(part.numel() for part in (*self.weights, *self.biases))

    @property
    def flops_per_row(self) -> int:
        """Standardise, multiply, add the bias."""
        return 2 * self.width + 2 * self.num_parameters - len(self.layers) * self.num_classes

    def blocks(self, rows: RowSource) -> Iterator[tuple[slice, list[Float64[Tensor, "b _"]]]]:
        """Yield standardised features of the chosen layers, a block of rows at a time.

        Args:
            rows: Raw features.

        Raises:
            InvalidInput: A value is NaN or infinite (row and layer named).
        """
        step = max(16, BLOCK_BYTES // (8 * (self.width + 2 * len(self.layers) * self.num_classes)))
        for start in range(0, rows.num_rows, step):
            stop = min(start + step, rows.num_rows)
            yield (
                slice(start, stop),
                [
                    standardiser(read_rows(rows, layer, start, stop, name="X").cpu())
                    for layer, standardiser in zip(self.layers, self.standardisers, strict=True)
                ],
            )

    def scores(self, z: Sequence[Float64[Tensor, "b _"]]) -> Float64[Tensor, "b S K"]:
        """Return the scores of every chosen layer.

        Args:
            z: From :meth:`blocks`.
        """
        parts = [
            torch.addmm(bias, part, weight)
            for part, weight, bias in zip(z, self.weights, self.biases, strict=True)
        ]
        return torch.stack(parts, dim=1)

    def tensors(self) -> dict[str, Tensor]:
        """Return every array by name: ``maps.<layer>.<part>``."""
        named: dict[str, Tensor] = {}
        for layer, scaler, weight, bias in zip(
            self.layers, self.standardisers, self.weights, self.biases, strict=True
        ):
            parts = (scaler.mean, scaler.std, weight, bias)
            named |= {f"maps.{layer}.{name}": part for name, part in zip(_PARTS, parts, strict=True)}
        return named

    @classmethod
    def from_tensors(
        cls, tensors: Mapping[str, Tensor], *, layers: Sequence[int], widths: Sequence[int], num_classes: int
    ) -> LinearMaps:
        """Rebuild from :meth:`tensors`.

        Args:
            tensors: Arrays by name; others than the maps' are ignored.
            layers: The chosen layers.
            widths: Width of every layer of the features.
            num_classes: K.

        Raises:
            InvalidInput: A part is missing or of another shape.
        """
        parts: dict[str, list[Tensor]] = {name: [] for name in _PARTS}
        for layer in layers:
            width = widths[layer]
            shapes = ([width], [width], [width, num_classes], [num_classes])
            for name, shape in zip(_PARTS, shapes, strict=True):
                tensor = tensors.get(f"maps.{layer}.{name}")
                if tensor is None or list(tensor.shape) != shape:
                    found = "nothing" if tensor is None else list(tensor.shape)
                    raise InvalidInput(
                        f"maps.{layer}.{name} must have shape {shape}, got {found}; was the file written for other "
                        "layers or classes?"
                    )
                parts[name].append(tensor)
        scalers = tuple(Standardiser(*pair) for pair in zip(parts["mean"], parts["std"], strict=True))
        return cls(tuple(layers), scalers, tuple(parts["weight"]), tuple(parts["bias"]))


def probe_maps(evidence: Evidence, layers: Sequence[int]) -> LinearMaps:
    """Return the probes of some layers.

    Args:
        evidence: Where they are fitted, once for all methods.
        layers: Which.
    """
    probes = [evidence.probe(layer) for layer in layers]
    return LinearMaps(
        tuple(layers),
        tuple(probe.standardiser for probe in probes),
        tuple(probe.weight for probe in probes),
        tuple(probe.bias for probe in probes),
    )
