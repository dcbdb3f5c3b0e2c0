"""The three terms of a bottleneck's loss, one value per image each.   B = images, N = tokens, W = numbers per token, R x Z = latents."""

from __future__ import annotations

from jaxtyping import Float
from torch import Tensor


def share_unexplained(
    rebuilt: Float[Tensor, "b ..."], wanted: Float[Tensor, "b ..."], *, variance: Float[Tensor, ""]
) -> Float[Tensor, " b"]:
    """Return the mean squared error of each image in units of a variance: 1 is what the mean over images would score on average.

    Args:
        rebuilt: Tokens or outputs.
        wanted: What they should be.
        variance: Of one of their numbers over images.
    """
    return (rebuilt - wanted).square().flatten(1).mean(dim=1) / variance


def divergence(mean: Float[Tensor, "b r z"], log_variance: Float[Tensor, "b r z"]) -> Float[Tensor, " b"]:
    """Return KL(N(mean, variance) || N(0, 1)) of all latents of an image, in nats.

    Args:
        mean: Of the latents.
        log_variance: Likewise.
    """
    each = mean.square() + log_variance.exp() - 1 - log_variance
    return 0.5 * each.flatten(1).sum(dim=1)
