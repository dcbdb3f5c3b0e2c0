"""Uniform average of temperature-scaled layer logits.   b = rows of a block, S = layers, K = classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import torch
from jaxtyping import Float64
from torch import Tensor

from vitgeom.fusion.evidence import Evidence
from vitgeom.fusion.layerwise import LayerwiseClassifier
from vitgeom.fusion.linear_maps import probe_maps
from vitgeom.fusion.temperature import layer_temperatures


class TemperedLayersClassifier(LayerwiseClassifier):
    """Base: probes of all layers, each with the temperature that suits validation best."""

    temperature_: Float64[Tensor, " S"]
    _ARRAYS: ClassVar[tuple[str, ...]] = ("temperature_",)

    def _fit(self, evidence: Evidence) -> None:
        layers = range(evidence.data.train.num_layers)
        self.maps_ = probe_maps(evidence, layers)
        self.temperature_ = layer_temperatures(evidence, layers)

    def _own_parameters(self) -> int:
        return len(self.temperature_)

    def _own_flops(self) -> int:
        # Divide by T, add up.
        return 2 * len(self.temperature_) * self.maps_.num_classes


class LogitAverageClassifier(TemperedLayersClassifier):
    """log p = log softmax((1/L) sum_l logits_l / T_l): a geometric mean of the layers' probabilities."""

    def _combine(
        self, scores: Float64[Tensor, "b S K"], z: Sequence[Float64[Tensor, "b _"]]
    ) -> Float64[Tensor, "b K"]:
        return torch.log_softmax((scores / self.temperature_[:, None]).mean(dim=1), dim=1)
