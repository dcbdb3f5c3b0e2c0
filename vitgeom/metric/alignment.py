"""How much of one subspace lies in another (V1 of the methods).   B = images, P = N D coordinates, r = directions given, R = directions of the targets."""

from __future__ import annotations

import torch
from jaxtyping import Float, Int
from torch import Tensor


def alignment(
    u: Float[Tensor, "b p r"], v: Float[Tensor, "b p R"], *, num_found: Int[Tensor, " b"] | None = None
) -> Float[Tensor, " b"]:
    """Return (1/m) ||U^T V_m||_F^2 per image, m the first directions of the target that exist, r at most: 1 if all of them lie in the span of U.

    Args:
        u: Orthonormal columns.
        v: Orthonormal columns, strongest first.
        num_found: How many columns of ``v`` there are in truth; None for all of them.

    Returns:
        One number in [0, 1] per image; 0 where there is no direction, which says nothing: see :func:`directions_of`.
    """
    count = directions_of(v, rank=u.shape[2], num_found=num_found)
    v = v[:, :, : u.shape[2]]
    there = torch.arange(v.shape[2], device=v.device) < count[:, None]
    with torch.autocast(u.device.type, enabled=False):  # half precision would be off by a hundredth
        captured_BR = (u.mT @ v.to(u)).square().sum(dim=1)
    return torch.where(there, captured_BR, 0).sum(dim=1) / count.clamp_min(1).to(u)


def directions_of(
    v: Float[Tensor, "b p R"], *, rank: int, num_found: Int[Tensor, " b"] | None
) -> Int[Tensor, " b"]:
    """Return how many directions of the targets count: those that were found, ``rank`` at most.

    Args:
        v: Targets.
        rank: r.
        num_found: How many columns there are in truth; None for all of them.
    """
    most = min(rank, v.shape[2])
    if num_found is None:
        return torch.full((len(v),), most, device=v.device)
    return num_found.clamp(0, most)


def random_alignment(rank: int, *, num_tokens: int, dim: int) -> float:
    """Return what a random subspace reaches on average, r / (N D).

    Args:
        rank: r.
        num_tokens: N.
        dim: D.
    """
    return rank / (num_tokens * dim)
