"""Uniform average of temperature-scaled layer probabilities.   b = rows of a block, S = layers, K = classes."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from jaxtyping import Float64
from torch import Tensor

from vitgeom.fusion.logit_average import TemperedLayersClassifier


class ProbabilityAverageClassifier(TemperedLayersClassifier):
    """p = (1/L) sum_l softmax(logits_l / T_l)."""

    def _combine(
        self, scores: Float64[Tensor, "b S K"], z: Sequence[Float64[Tensor, "b _"]]
    ) -> Float64[Tensor, "b K"]:
        log_p = torch.log_softmax(scores / self.temperature_[:, None], dim=2)
        return torch.logsumexp(log_p, dim=1) - math.log(scores.shape[1])
