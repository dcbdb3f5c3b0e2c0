"""The metric as the matrix it stands for: (N D)^2 entries."""

from __future__ import annotations

import torch
from torch import Tensor


def dense_metric(directions_NDR: Tensor, energies_R: Tensor, *, eps: float) -> Tensor:
    """Return sum_j lambda_j u_j u_j^T + eps I of one image."""
    tokens, width, rank = directions_NDR.shape
    whole = eps * torch.eye(tokens * width, dtype=directions_NDR.dtype)
    for j in range(rank):
        u = directions_NDR[:, :, j].reshape(-1)
        whole = whole + energies_R[j] * torch.outer(u, u)
    return whole
