"""A linear classifier written as encoder and head with uncorrelated, unit-variance latents.   r = inputs, d = latents, K = classes."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float64
from torch import Tensor

NULL_SHARE = 1e-12
"""Directions with less than this share of the largest eigenvalue count as absent."""


@dataclass(frozen=True, eq=False)
class Factors:
    """``weight = encoder @ head``, up to what d latents cannot hold.

    Attributes:
        encoder: Inputs to latents; over the training rows the latents are uncorrelated with variance 1.
        head: Latents to logits.
    """

    encoder: Float64[Tensor, "r d"]
    head: Float64[Tensor, "d K"]


def decorrelated_factors(
    weight: Float64[Tensor, "r K"], covariance: Float64[Tensor, "r r"], *, latent_dim: int
) -> Factors:
    """Factorise a linear classifier so that its latents z = E'u have covariance I.

    In whitened coordinates the weights are S^(1/2) W. Their left singular vectors are orthonormal directions, hence
    uncorrelated latents; W has at most K - 1 of them that matter, since logits are free up to a constant. With fewer latents
    the largest ones are kept (the best approximation of the logits in mean square); with more, the next latents are the
    directions of largest variance that are uncorrelated with those before, and the head ignores them at first.

    Args:
        weight: W, centred over classes.
        covariance: S of the centred inputs over training rows.
        latent_dim: d; at most the rank of S.
    """
    variances, axes = torch.linalg.eigh(covariance)
    present = variances > NULL_SHARE * variances[-1]
    # Columns by falling variance.
    variances, axes = variances[present].flip(0), axes[:, present].flip(1)
    deviation = variances.sqrt()
    left, size, right = torch.linalg.svd(deviation[:, None] * (axes.T @ weight), full_matrices=False)
    kept = min(latent_dim, int((size > NULL_SHARE**0.5 * size[:1].clamp(min=1e-300)).sum()))
    white = _completed(left[:, :kept], latent_dim)
    encoder = axes @ (white / deviation[:, None])
    head = torch.zeros(white.shape[1], weight.shape[1], dtype=torch.float64)
    head[:kept] = size[:kept, None] * right[:kept]
    return Factors(encoder, head)


def _completed(columns: Float64[Tensor, "q k"], count: int) -> Float64[Tensor, "q d"]:
    """Return orthonormal columns followed by the first coordinate axes made orthogonal to them, ``count`` in all."""
    order, have = columns.shape
    if have >= count:
        return columns
    candidates = torch.cat([columns, torch.eye(order, dtype=columns.dtype)], dim=1)
    orthogonal, triangle = torch.linalg.qr(candidates[:, : min(order, 2 * count)])
    extra = orthogonal[:, have:count] * triangle.diagonal()[have:count].sign()
    return torch.cat([columns, extra], dim=1)
