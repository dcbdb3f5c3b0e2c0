"""Classifiers that weigh the layers image by image.

n = rows, b = rows of a block, S = layers, W = width of the concatenation, r = principal coordinates, H = hidden units, K = classes.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import ClassVar

import torch
from jaxtyping import Float, Float32, Float64, Int64
from torch import Tensor

from vitgeom.errors import InvalidInput
from vitgeom.fusion.compression import principal_axes
from vitgeom.fusion.evidence import Evidence
from vitgeom.fusion.gate import GateNet, GateRows, GateSettings, train_gate
from vitgeom.fusion.layerwise import LayerwiseClassifier
from vitgeom.fusion.linear_maps import probe_maps
from vitgeom.fusion.scaled_rows import ScaledRows
from vitgeom.fusion.staged_rows import kept, mapped, staged
from vitgeom.fusion.temperature import layer_temperatures
from vitgeom.probes.labels import UNKNOWN_CLASS
from vitgeom.probes.layers import RowSource
from vitgeom.probes.row_file import RowFile
from vitgeom.seeding import generator_for


class GatedLayersClassifier(LayerwiseClassifier):
    """Base: a net reads the principal coordinates of all standardised layers; subclasses say what its values do.

    The net is trained on scores of probes that have not seen the row, each layer divided by its temperature, and stops by
    validation log-loss. Its start weighs all layers alike.
    """

    temperature_: Float64[Tensor, " S"]
    directions_: Float32[Tensor, "W r"]
    gate_weight_in_: Float32[Tensor, "r H"]
    gate_bias_in_: Float32[Tensor, " H"]
    gate_weight_out_: Float32[Tensor, "H S"]
    gate_bias_out_: Float32[Tensor, " S"]
    epoch_: int
    _ARRAYS: ClassVar[tuple[str, ...]] = (
        "temperature_",
        "directions_",
        "gate_weight_in_",
        "gate_bias_in_",
        "gate_weight_out_",
        "gate_bias_out_",
    )
    _NUMBERS: ClassVar[tuple[str, ...]] = ("epoch_",)

    def __init__(
        self,
        *,
        components: int = 64,
        hidden_dim: int = 64,
        dropout: float = 0.1,
        learning_rate: float = 2e-3,
        weight_decay: float = 1e-2,
        batch_size: int = 256,
        max_epochs: int = 100,
        patience: int = 15,
        seed: int = 0,
    ) -> None:
        """Store parameters.

        Args:
            components: r, principal coordinates that the net reads.
            hidden_dim: H.
            dropout: Share of hidden units that are silent in a training step.
            learning_rate: Of AdamW.
            weight_decay: Of AdamW.
            batch_size: Rows per step.
            max_epochs: Most passes over the training rows.
            patience: Passes without progress on validation before training stops.
            seed: Decides folds, what is held out where no validation rows are given, and the training of the net.
        """
        super().__init__(seed=seed)
        self.components = components
        self.hidden_dim = hidden_dim
        self.dropout = dropout
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.batch_size = batch_size
        self.max_epochs = max_epochs
        self.patience = patience

    @property
    def net_(self) -> GateNet:
        """The trained net."""
        return GateNet(self.gate_weight_in_, self.gate_bias_in_, self.gate_weight_out_, self.gate_bias_out_)

    def _fit(self, evidence: Evidence) -> None:
        settings, data = self._settings(), evidence.data
        layers = range(data.train.num_layers)
        self.maps_ = probe_maps(evidence, layers)
        self.temperature_ = layer_temperatures(evidence, layers)
        budget = evidence.byte_budget
        axes = principal_axes(
            self._rows(data.train),
            components=self.components,
            generator=generator_for(self.seed, "gate inputs"),
        )
        # One factor for all coordinates: their mean square becomes 1, their proportions stay.
        factor = axes.variances.mean().sqrt().clamp(min=1e-12) if len(axes.variances) else torch.tensor(1.0)
        self.directions_ = (axes.directions / factor).float().contiguous()
        known = data.val_target != UNKNOWN_CLASS
        train = self._gate_rows(data.train, data.target, scores=evidence.held_out, byte_budget=budget)
        every = self._gate_rows(data.val, data.val_target, scores=evidence.val_logits, byte_budget=budget)
        val = GateRows(
            kept(every.x, known), kept(every.scores, known), data.val_target[known], every.num_layers
        )
        trained = train_gate(
            train,
            val=val,
            combine=self._gated,
            settings=settings,
            generator=generator_for(self.seed, "gate training"),
        )
        for rows in (train, every, val):
            rows.release()
        self.gate_weight_in_, self.gate_bias_in_ = trained.net.weight_in, trained.net.bias_in
        self.gate_weight_out_, self.gate_bias_out_ = trained.net.weight_out, trained.net.bias_out
        self.epoch_ = trained.epoch

    def _settings(self) -> GateSettings:
        if self.components < 1:
            raise InvalidInput(f"components must be >= 1, got {self.components}.")
        return GateSettings(
            hidden_dim=self.hidden_dim,
            dropout=self.dropout,
            learning_rate=self.learning_rate,
            weight_decay=self.weight_decay,
            batch_size=self.batch_size,
            max_epochs=self.max_epochs,
            patience=self.patience,
        )

    def _rows(self, source: RowSource) -> ScaledRows:
        scale = torch.ones(len(self.maps_.layers), dtype=torch.float64)
        return ScaledRows(source, self.maps_.layers, self.maps_.standardisers, scale)

    def _gate_rows(
        self,
        source: RowSource,
        target: Int64[Tensor, " n"],
        *,
        scores: Callable[[int], Float32[Tensor, "n K"] | RowFile],
        byte_budget: int,
    ) -> GateRows:
        parts = [scores(layer) for layer in self.maps_.layers]
        tempered = mapped(
            self._tempered, *parts, width=len(parts) * self.maps_.num_classes, byte_budget=byte_budget
        )
        inputs = staged(
            (block @ self.directions_ for _, block in self._rows(source).blocks()),
            num_rows=source.num_rows,
            width=self.directions_.shape[1],
            byte_budget=byte_budget,
        )
        return GateRows(inputs, tempered, target, len(parts))

    def _tempered(self, *scores: Float32[Tensor, "b K"]) -> Float32[Tensor, "b SK"]:
        """Return each layer's scores over its temperature, layer after layer."""
        return (torch.stack(scores, dim=1) / self.temperature_[:, None]).float().flatten(1)

    def _combine(
        self, scores: Float64[Tensor, "b S K"], z: Sequence[Float64[Tensor, "b _"]]
    ) -> Float64[Tensor, "b K"]:
        raw = self.net_(torch.cat(list(z), dim=1).float() @ self.directions_)
        return self._gated(raw.double(), scores / self.temperature_[:, None])

    def _own_parameters(self) -> int:
        net = sum(part.numel() for part in self.net_.parts)
        return len(self.temperature_) + self.directions_.numel() + net

    def _own_flops(self) -> int:
        matrices = (self.directions_, self.net_.weight_in, self.net_.weight_out)
        products = 2 * sum(matrix.numel() for matrix in matrices)
        return products + 4 * len(self.temperature_) * self.maps_.num_classes

    @abstractmethod
    def _gated(self, raw: Float[Tensor, "b S"], scores: Float[Tensor, "b S K"]) -> Float[Tensor, "b K"]:
        """Return log probabilities from raw gate values (all 0 at the start) and tempered scores."""
