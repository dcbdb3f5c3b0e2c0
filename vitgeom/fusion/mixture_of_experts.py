"""Mixture of Experts (Jacobs et al. 1991) whose experts are the layer probes.   b = rows, S = layers, K = classes."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from vitgeom.fusion.gated_layers import GatedLayersClassifier


class MixtureOfExpertsClassifier(GatedLayersClassifier):
    """p = sum_l softmax(g(x))_l softmax(logits_l / T_l); g = 0 is the uniform probability average."""

    def _gated(self, raw: Float[Tensor, "b S"], scores: Float[Tensor, "b S K"]) -> Float[Tensor, "b K"]:
        log_share = torch.log_softmax(raw, dim=1)
        return torch.logsumexp(log_share[..., None] + torch.log_softmax(scores, dim=2), dim=1)
