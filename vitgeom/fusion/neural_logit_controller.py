"""Neural Logit Controller: a net gives each layer's logits a positive weight, image by image.   b = rows, S = layers, K = classes."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from vitgeom.fusion.gated_layers import GatedLayersClassifier

_LARGEST_LOG_WEIGHT = 4.0


class NeuralLogitControllerClassifier(GatedLayersClassifier):
    """log p = log softmax((1/L) sum_l w_l(x) logits_l / T_l), w_l(x) = exp(4 tanh(g_l(x) / 4)); w = 1 is the uniform logit average."""

    def _gated(self, raw: Float[Tensor, "b S"], scores: Float[Tensor, "b S K"]) -> Float[Tensor, "b K"]:
        weight = torch.exp(_LARGEST_LOG_WEIGHT * torch.tanh(raw / _LARGEST_LOG_WEIGHT))
        return torch.log_softmax((weight[..., None] * scores).mean(dim=1), dim=1)
