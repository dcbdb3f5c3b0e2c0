"""Fitted probes of all layers.   n = rows, L = layers, D = width, S = strengths, K = classes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Float, Float32, Float64, Int64
from torch import Tensor

from vitgeom.errors import InvalidInput
from vitgeom.probes.given_features import refuse_non_finite
from vitgeom.probes.labels import Labels, class_index, label_array
from vitgeom.probes.layers import Features, RowSource, TensorLayers, as_layers
from vitgeom.probes.memory import STREAM_CHUNK_BYTES, chunk_rows
from vitgeom.probes.row_access import WholeLayers, as_rows, read_rows


@dataclass(frozen=True, eq=False)
class LayerProbes:
    """One probe per layer at the strength that validation chose, and how it was chosen.

    Attributes:
        classes: Original class ids, sorted; class index k stands for ``classes[k]``.
        mean: Training mean of each column.
        std: Training deviation of each column (1 where constant).
        weight: Coefficients on standardised features.
        bias: Intercepts.
        l2_grid: Strengths tried.
        chosen: Index into ``l2_grid`` per layer, by validation log-loss.
        val_loss: Validation log-loss of every probe.
        val_accuracy: Validation accuracy of every probe.
        objective: Training objective of every probe.
        grad_norm: Relative gradient norm of every probe, certified in float64.
        converged: Which of them reached the tolerance.
        iterations: Newton steps of every probe.
        final_converged: Whether the probe kept for the layer converged (after refitting, the refitted one).
        final_grad_norm: Its relative gradient norm.
        best_layer: 0-based, by validation accuracy, ties by log-loss; always a converged one.
        refit: Whether ``weight`` and ``bias`` were refitted on train + validation.
    """

    classes: np.ndarray
    mean: Float64[Tensor, "L D"]
    std: Float64[Tensor, "L D"]
    weight: Float64[Tensor, "L D K"]
    bias: Float64[Tensor, "L K"]
    l2_grid: Float64[Tensor, " S"]
    chosen: Int64[Tensor, " L"]
    val_loss: Float64[Tensor, "L S"]
    val_accuracy: Float64[Tensor, "L S"]
    objective: Float64[Tensor, "L S"]
    grad_norm: Float64[Tensor, "L S"]
    converged: Bool[Tensor, "L S"]
    iterations: Int64[Tensor, "L S"]
    final_converged: Bool[Tensor, " L"]
    final_grad_norm: Float64[Tensor, " L"]
    best_layer: int
    refit: bool

    @property
    def num_layers(self) -> int:
        """L, the number of layers."""
        return len(self.chosen)

    @property
    def chosen_l2(self) -> Float64[Tensor, " L"]:
        """The strength of each layer's probe."""
        return self.l2_grid[self.chosen]

    @property
    def marked(self) -> tuple[int, ...]:
        """Layers (0-based) whose probe did not converge."""
        return tuple((~self.final_converged).nonzero()[:, 0].tolist())

    def logits(self, x: Features) -> Float32[Tensor, "n L K"]:
        """Return the logits of every layer's probe, computed in float64 and rounded once.

        Beside the result, memory does not grow with n if the features can be read by rows; see :meth:`logits_blocks` where
        the result is too large as well.

        Args:
            x: Raw features, or a source that reads one layer, or some rows of one, at a time.

        Raises:
            InvalidInput: Neither features nor a source of them, another number of layers or another width than in training, or a NaN
                or infinite value (row and layer named).
        """
        source = self._rows_of(x)
        out = torch.empty(source.num_rows, self.num_layers, len(self.classes), dtype=torch.float32)
        for layer, rows, logits in self._layer_by_layer(source):
            out[rows, layer] = logits
        return out

    def logits_blocks(
        self, x: Features, *, block_rows: int | None = None
    ) -> Iterator[tuple[int, Float32[Tensor, "b L K"]]]:
        """Yield (first row, logits of every layer) of consecutive rows, so that ``[n, L, K]`` is never in memory.

        Args:
            x: Raw features. A source that cannot be read by rows reads every layer anew for each block.
            block_rows: Rows of a block; as many as make 16 MiB of one layer in float64 if None.

        Raises:
            InvalidInput: As :meth:`logits`, or ``block_rows`` < 1.
        """
        if block_rows is not None and block_rows < 1:
            raise InvalidInput(f"block_rows must be >= 1, got {block_rows}; leave it out for a good size.")
        return self._row_by_row(self._rows_of(x), block_rows or self._block_rows)

    def _rows_of(self, x: object) -> RowSource:
        layers = as_layers(x, name="X")
        if layers.num_layers != self.num_layers:
            raise InvalidInput(
                f"X must have the {self.num_layers} layers of the probes, got {layers.num_layers}."
            )
        return as_rows(layers, name="X")

    @property
    def _block_rows(self) -> int:
        width, num_classes = self.weight.shape[1:]
        return chunk_rows(width=width, columns=num_classes, chunk_bytes=STREAM_CHUNK_BYTES)

    def _layer_by_layer(self, source: RowSource) -> Iterator[tuple[int, slice, Float32[Tensor, "b K"]]]:
        """Yield (layer, rows, logits); what is in memory anyway comes a layer at a time."""
        whole = isinstance(source, TensorLayers | WholeLayers)
        size = max(1, source.num_rows) if whole else self._block_rows
        for layer in range(self.num_layers):
            for start in range(0, source.num_rows, size):
                stop = min(start + size, source.num_rows)
                yield layer, slice(start, stop), self._block_logits(source, layer, start, stop)

    def _row_by_row(self, source: RowSource, size: int) -> Iterator[tuple[int, Float32[Tensor, "b L K"]]]:
        for start in range(0, source.num_rows, size):
            stop = min(start + size, source.num_rows)
            layers = [self._block_logits(source, layer, start, stop) for layer in range(self.num_layers)]
            yield start, torch.stack(layers, dim=1)

    def _block_logits(self, source: RowSource, layer: int, start: int, stop: int) -> Float32[Tensor, "b K"]:
        x = read_rows(source, layer, start, stop, name="X")
        return self.layer_logits(x, layer=layer)

    def layer_logits(self, x: Float[Tensor, "n D"], *, layer: int) -> Float32[Tensor, "n K"]:
        """Return the logits of one layer's probe.

        Args:
            x: Raw features of that layer.
            layer: 0-based.

        Raises:
            InvalidInput: Another width than in training, or a NaN or infinite value.
        """
        num_rows, width = x.shape
        if width != self.weight.shape[1]:
            raise InvalidInput(
                f"X must have the training width {self.weight.shape[1]}, got {width} at layer {layer}."
            )
        refuse_non_finite(x, name="X", layer=layer)
        rows = chunk_rows(width=width, columns=len(self.classes))
        out = torch.empty(num_rows, len(self.classes), dtype=torch.float32)
        for start in range(0, num_rows, rows):
            z = (x[start : start + rows].cpu().double() - self.mean[layer]) / self.std[layer]
            out[start : start + rows] = (z @ self.weight[layer] + self.bias[layer]).float()
        return out

    def predict(self, x: Features) -> np.ndarray:
        """Return the predicted class of every row by every layer, ``[n, L]``, in the original ids.

        Args:
            x: Raw features, or a source that reads one layer, or some rows of one, at a time.
        """
        source = self._rows_of(x)
        best = np.empty((source.num_rows, self.num_layers), dtype=np.int64)
        for layer, rows, logits in self._layer_by_layer(source):
            best[rows, layer] = logits.argmax(dim=1).numpy()
        return self.classes[best]

    def index(self, y: Labels) -> Int64[Tensor, " n"]:
        """Return class indices of labels, -1 for a class that was not trained on.

        Args:
            y: Labels in their original ids.
        """
        return class_index(label_array(y, name="y"), self.classes)

    def tensors(self) -> dict[str, Tensor]:
        """Return every array but the class ids, contiguous, by name: the part for safetensors."""
        return {name: getattr(self, name).contiguous() for name in _TENSORS}

    def meta(self) -> dict[str, Any]:
        """Return the rest as plain JSON."""
        return {"classes": self.classes.tolist(), "best_layer": self.best_layer, "refit": self.refit}

    @classmethod
    def from_parts(cls, tensors: Mapping[str, Tensor], meta: Mapping[str, Any]) -> LayerProbes:
        """Rebuild probes from :meth:`tensors` and :meth:`meta`.

        Args:
            tensors: Arrays by name; names that are not a probe's are refused.
            meta: Class ids, best layer, whether refitted.

        Raises:
            InvalidInput: A part is missing or unknown.
        """
        for kind, given, wanted in (
            ("tensors", set(tensors), set(_TENSORS)),
            ("meta", set(meta), set(_META)),
        ):
            if given != wanted:
                raise InvalidInput(
                    f"{kind} must hold exactly the parts of LayerProbes: missing {sorted(wanted - given)}, "
                    f"unknown {sorted(given - wanted)}; were they written by another version?"
                )
        classes = np.asarray(meta["classes"])
        return cls(
            classes=classes.astype(np.int64) if classes.dtype.kind in "iu" else classes,
            best_layer=int(meta["best_layer"]),
            refit=bool(meta["refit"]),
            **tensors,
        )


_META = ("classes", "best_layer", "refit")
_TENSORS = tuple(field.name for field in fields(LayerProbes) if field.name not in _META)
