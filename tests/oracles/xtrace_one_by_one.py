"""XTrace with every sketch made anew, to compare the fast one with."""

from __future__ import annotations

import torch
from torch import Tensor


def xtrace_one_by_one(matrix: Tensor, w_NK: Tensor) -> Tensor:
    """Return the K estimates: each test vector probes what the range of the other images leaves outside."""
    order, count = w_NK.shape
    estimates = []
    for i in range(count):
        others = torch.cat([w_NK[:, :i], w_NK[:, i + 1 :]], dim=1)
        q, _ = torch.linalg.qr(matrix @ others)
        m = w_NK[:, i] - q @ (q.mT @ w_NK[:, i])
        outside = (order - count + 1) / (m @ m) * (m @ matrix @ m)
        estimates.append((q.mT @ matrix @ q).trace() + outside)
    return torch.stack(estimates)
