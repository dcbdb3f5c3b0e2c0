"""How much of all sensitivity a metric's directions hold, as far as the targets tell.   B = images, P = N D coordinates, r = directions given, R = directions of the targets."""

from __future__ import annotations

import torch
from jaxtyping import Float, Int
from torch import Tensor


def captured_share(
    u: Float[Tensor, "b p r"],
    *,
    right_vectors: Float[Tensor, "b p R"],
    singular_values: Float[Tensor, "b R"],
    norm_squared: Float[Tensor, " b"],
    num_found: Int[Tensor, " b"] | None = None,
) -> Float[Tensor, " b"]:
    """Return sum_j sigma_j^2 ||U^T v_j||^2 / ||J||_F^2 over the directions of the targets.

    A lower bound of ||J U||_F^2 / ||J||_F^2: what U holds of directions beyond the R that are known is not counted. Never above kappa_cap(r), by theorem 1.

    Args:
        u: Orthonormal columns.
        right_vectors: v_j, orthonormal columns, strongest first.
        singular_values: sigma_j, descending.
        norm_squared: ||J||_F^2.
        num_found: How many directions there are; None for all.

    Returns:
        One number per image; NaN where the Jacobian is zero, which has no share.
    """
    found = torch.full((len(u),), right_vectors.shape[2], device=u.device) if num_found is None else num_found
    there = torch.arange(right_vectors.shape[2], device=u.device) < found[:, None]
    held_BR = (u.mT @ right_vectors.to(u)).square().sum(dim=1)
    squares_BR = torch.where(there, singular_values.square(), 0.0).to(held_BR)
    share = (squares_BR * held_BR).sum(dim=1) / norm_squared.to(held_BR)
    return torch.where(norm_squared > 0, share, torch.nan)
