"""Quality-scaled layers: how loud each layer's block speaks in a concatenation.   L = layers, K = classes, n = rows."""

from __future__ import annotations

import torch
from jaxtyping import Float, Float64, Int64
from torch import Tensor

from vitgeom.errors import InvalidInput

TEMPERATURES: tuple[float, ...] = (0.0, 5.0, 10.0, 20.0, 40.0)
"""T of the scaling: 0 is plain concatenation, infinity the best layer alone."""


def quality_scale(loss: Float64[Tensor, " L"], *, temperature: float) -> Float64[Tensor, " L"]:
    """Return s_l = exp(-T (ce_l - min ce)), normalised to unit mean square.

    A block of D standardised columns then has variance D s_l^2, so that L2 on the weights lets a good layer say the same with
    smaller weights. With T = 0 all layers are equal; as T grows, only the best one is heard.

    Args:
        loss: ce_l, out-of-fold log-loss of each layer's probe on training rows, in nats.
        temperature: T >= 0, per nat.

    Raises:
        InvalidInput: T is negative or not finite, or a loss is not finite.
    """
    if not 0 <= temperature < float("inf"):
        raise InvalidInput(
            f"the temperature of layer_scaling must be >= 0 and finite, got {temperature}; 0 leaves all layers equal."
        )
    if not bool(torch.isfinite(loss).all()):
        raise InvalidInput(f"layer losses must be finite, got {loss.tolist()}.")
    scale = torch.exp(-temperature * (loss - loss.min()))
    return scale / scale.square().mean().sqrt()


def log_loss(logits: Float[Tensor, "n L K"], target: Int64[Tensor, " n"]) -> Float64[Tensor, " L"]:
    """Return the mean -log softmax at the target of every layer.

    Args:
        logits: Out-of-fold, so that no row is judged by a probe that has seen it.
        target: Class indices.
    """
    return summed_log_loss(logits, target) / len(target)


def summed_log_loss(logits: Float[Tensor, "n L K"], target: Int64[Tensor, " n"]) -> Float64[Tensor, " L"]:
    """Return the sum of -log softmax at the target over rows, of every layer.

    Args:
        logits: Any finite values.
        target: Class indices.
    """
    log_p = torch.log_softmax(logits.double(), dim=2)
    return -log_p[torch.arange(len(target)), :, target].sum(dim=0)
