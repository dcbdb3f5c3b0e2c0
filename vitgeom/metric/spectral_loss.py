"""The loss of a spectral pullback network (B8 of the methods).   B = images, P = N D, r = rank of the network, R = directions of the targets.

    loss = 1 - (1/m) ||U^T V||_F^2 + beta * mean_j (log lambda_j - log sigma_j^2)^2

The first term is blind to signs and to rotations within the subspace. The second runs over separated modes (:mod:`vitgeom.metric.energy_modes`) and is 0 for an image without any.
An image to which no direction belongs counts for neither.
"""

from __future__ import annotations

import torch
from jaxtyping import Float, Int
from torch import Tensor

from vitgeom.metric.alignment import alignment, directions_of
from vitgeom.metric.energy_modes import separated_modes
from vitgeom.metric.pullback_metric import PullbackMetric


def spectral_loss(
    metric: PullbackMetric,
    *,
    right_vectors: Float[Tensor, "b p R"],
    singular_values: Float[Tensor, "b R"],
    num_found: Int[Tensor, " b"] | None = None,
    beta: float,
) -> dict[str, Float[Tensor, ""]]:
    """Return "total", "subspace" and "energy", each a mean over the images of the batch.

    Args:
        metric: Of the network.
        right_vectors: V, orthonormal columns, strongest first; taken as constants.
        singular_values: sigma_j, descending.
        num_found: How many of the R directions there are; None for all.
        beta: Weight of the energies.
    """
    aligned_B = alignment(metric.columns, right_vectors, num_found=num_found)
    some_B = directions_of(right_vectors, rank=metric.rank, num_found=num_found) > 0
    subspace = torch.where(some_B, 1 - aligned_B, 0.0).mean()
    energy = energy_errors(metric, singular_values=singular_values, num_found=num_found).mean()
    return {"total": subspace + beta * energy, "subspace": subspace, "energy": energy}


def energy_errors(
    metric: PullbackMetric,
    *,
    singular_values: Float[Tensor, "b R"],
    num_found: Int[Tensor, " b"] | None = None,
) -> Float[Tensor, " b"]:
    """Return the mean squared error of log energies per image, over the modes that count; 0 where there is none.

    Args:
        metric: Of the network.
        singular_values: sigma_j, descending.
        num_found: How many there are; None for all.
    """
    counts_BR = separated_modes(singular_values, rank=metric.rank, num_found=num_found)
    modes = counts_BR.shape[1]
    wanted_BR = 2 * torch.where(counts_BR, singular_values[:, :modes], 1.0).log()
    off_BR = torch.where(counts_BR, metric.energies[:, :modes].log() - wanted_BR.to(metric.energies), 0.0)
    return off_BR.square().sum(dim=1) / counts_BR.sum(dim=1).clamp_min(1)
