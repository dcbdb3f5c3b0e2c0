"""Top-5 accuracy of every layer.   L = layers, n = samples, K = classes."""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float, Float64, Int64
from torch import Tensor

TOP = 5


def among_top(logits: Float[Tensor, "L n K"], labels: Int64[Tensor, " n"]) -> Bool[Tensor, "L n"]:
    """Return whether the class of each sample is among the five largest logits; of equal logits the lower class counts first.

    Args:
        logits: Of K > 5 classes.
        labels: Class indices; -1, a class that is not among them, is never right.
    """
    known = labels.clamp(min=0)
    inside = torch.empty(logits.shape[:2], dtype=torch.bool)
    earlier = torch.arange(logits.shape[2]) < known[:, None]
    for layer, logits_nK in enumerate(logits):  # one at a time: the comparison is as large as the logits
        own = logits_nK.gather(1, known[:, None])
        before = (logits_nK > own) | ((logits_nK == own) & earlier)
        inside[layer] = before.sum(dim=1) < TOP
    return inside & (labels >= 0)


class TopRates:
    """Shares of samples within the five largest, on the samples and on their resamples."""

    def __init__(self, logits: Float[Tensor, "L n K"], labels: Int64[Tensor, " n"]) -> None:
        """Find out which samples are.

        Args:
            logits: Of K > 5 classes.
            labels: Class indices.
        """
        self._columns = among_top(logits, labels).T.double()

    def rates(self, counts: Float64[Tensor, "b n"]) -> Float64[Tensor, "b L"]:
        """Return the share of each layer.

        Args:
            counts: How often each sample counts.
        """
        return (counts @ self._columns) / counts.sum(dim=1, keepdim=True)
