"""The orthogonality term of VFusion: latents should not say the same thing twice.   M = models, B = rows, d = latents."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

VARIANCE_FLOOR = 0.5
"""Deviation below which a latent is pushed up again (it starts at 1)."""


def orthogonality(z: Float[Tensor, "M B d"]) -> Float[Tensor, " M"]:
    """Return the mean squared off-diagonal entry of the batch correlation matrix, plus a small variance floor, of each model.

    Correlations are free of scale; the raw covariance form would be satisfied by shrinking z. B rows of independent latents
    give about 1 / B by chance, so batches should hold at least 10 d rows. The floor, the mean of max(0, 0.5 - std)^2, keeps a
    latent from collapsing to a constant, where its correlations mean nothing.

    Args:
        z: Latents of a batch. One latent alone has no off-diagonal entry: only the floor is left.
    """
    num_rows, latent_dim = z.shape[1:]
    centred = z - z.mean(dim=1, keepdim=True)
    deviation = (centred.square().mean(dim=1) + 1e-12).sqrt()
    white = centred / deviation[:, None]
    correlation = white.transpose(1, 2) @ white / num_rows
    pairs = max(1, latent_dim * (latent_dim - 1))
    off_diagonal = (
        correlation.square().sum(dim=(1, 2)) - correlation.diagonal(dim1=1, dim2=2).square().sum(dim=1)
    ) / pairs
    floor = torch.relu(VARIANCE_FLOOR - deviation).square().mean(dim=1)
    return off_diagonal + floor
