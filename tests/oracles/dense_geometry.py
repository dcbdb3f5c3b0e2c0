"""Every figure of a diagnosis from the matrix itself, token by token."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class DenseGeometry:
    sigma: Tensor
    kappa: list[float]
    energy: list[float]
    importance: list[float]
    block_norms: list[float]
    variation: float
    participation_ratio: float
    entropy_rank: float
    stable_rank: float
    r_90: int


def dense_geometry(matrix: Tensor, *, num_tokens: int, rank: int) -> DenseGeometry:
    """Decompose [M, N D] and sum by loops."""
    _, sigma, vt = torch.linalg.svd(matrix.double(), full_matrices=False)
    squared = (sigma**2).tolist()
    total = sum(squared)
    width = matrix.shape[1] // num_tokens
    energy, importance, norms = [], [], []
    for t in range(num_tokens):
        block = slice(t * width, (t + 1) * width)
        held = [float((vt[j, block] ** 2).sum()) for j in range(rank)]
        energy.append(sum(held))
        importance.append(math.sqrt(sum(squared[j] * held[j] for j in range(rank))))
        norms.append(float(matrix[:, block].double().norm()))
    mean = sum(energy) / num_tokens
    shares = [value / total for value in squared if value > 0]
    held_so_far, r_90 = 0.0, 0
    while held_so_far < 0.9 * total * (1 - 1e-12):
        held_so_far += squared[r_90]
        r_90 += 1
    return DenseGeometry(
        sigma=sigma,
        kappa=[sum(squared[: r + 1]) / total for r in range(rank)],
        energy=energy,
        importance=importance,
        block_norms=norms,
        variation=math.sqrt(sum((e - mean) ** 2 for e in energy) / num_tokens) / mean,
        participation_ratio=total**2 / sum(value**2 for value in squared),
        entropy_rank=math.exp(-sum(share * math.log(share) for share in shares)),
        stable_rank=total / squared[0],
        r_90=r_90,
    )
