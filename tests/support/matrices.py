"""Matrices whose singular values we chose.   n = order, r = rank."""

from __future__ import annotations

import torch
from torch import Tensor


def orthonormal(rows: int, columns: int, *, seed: int) -> Tensor:
    """Return [rows, columns] float64 with orthonormal columns, uniformly distributed."""
    generator = torch.Generator().manual_seed(seed)
    drawn = torch.randn(rows, columns, generator=generator, dtype=torch.float64)
    q, r = torch.linalg.qr(drawn)
    return q * r.diagonal().sign()


def with_singular_values(sigma: Tensor, *, rows: int, columns: int, seed: int = 0) -> Tensor:
    """Return [rows, columns] float64 with the given singular values [r] and uniformly distributed singular vectors."""
    left, right = orthonormal(rows, len(sigma), seed=seed), orthonormal(columns, len(sigma), seed=seed + 1)
    return (left * sigma.double()) @ right.mT


def planted(order: int) -> dict[str, Tensor]:
    """Return singular values [order] by name: flat, slow and fast decay, a step, an exponential."""
    j = torch.arange(1, order + 1, dtype=torch.float64)
    step = torch.where(j <= max(1, order // 8), 1.0, 0.05)
    return {
        "flat": torch.ones_like(j),
        "slow": j**-0.25,
        "fast": j**-1.0,
        "exponential": torch.exp(-j / 20),
        "step": step.double(),
    }
