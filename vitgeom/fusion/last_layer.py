"""The probe of one layer alone, and of the last one in particular.   b = rows of a block, S = 1 layer, K = classes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

import torch
from jaxtyping import Float64
from torch import Tensor

from vitgeom.fusion.evidence import Evidence
from vitgeom.fusion.layerwise import LayerwiseClassifier
from vitgeom.fusion.linear_maps import probe_maps


class SingleLayerClassifier(LayerwiseClassifier):
    """Base: subclasses say which layer."""

    def _fit(self, evidence: Evidence) -> None:
        self.maps_ = probe_maps(evidence, [self._layer(evidence)])

    def _combine(
        self, scores: Float64[Tensor, "b S K"], z: Sequence[Float64[Tensor, "b _"]]
    ) -> Float64[Tensor, "b K"]:
        return torch.log_softmax(scores[:, 0], dim=1)

    def _own_parameters(self) -> int:
        return 0

    def _own_flops(self) -> int:
        return 0

    @abstractmethod
    def _layer(self, evidence: Evidence) -> int:
        """Return the layer, counted from 0."""


class LastLayerClassifier(SingleLayerClassifier):
    """The usual way to use a frozen backbone: softmax regression on the last layer."""

    def _layer(self, evidence: Evidence) -> int:
        return evidence.data.train.num_layers - 1
