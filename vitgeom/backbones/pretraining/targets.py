"""What both trainings ask about a picture beside labels: edge directions and colours of its patches."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from vitgeom.backbones.embedded import ARCHITECTURES
from vitgeom.backbones.pretraining.gradients import gradient_histograms
from vitgeom.backbones.pretraining.patches import to_patches


def edges_and_colours(
    images: Float[Tensor, "n 3 h w"],
) -> tuple[Float[Tensor, "n k 9"], Float[Tensor, "n k 3"]]:
    """Return histograms of oriented gradients and mean colours of all patches.

    Args:
        images: Normalised pixels.
    """
    side = ARCHITECTURES["nano_selfsup"]["patch_size"]
    return gradient_histograms(images, side=side), to_patches(images, side=side).unflatten(2, (3, -1)).mean(3)


def patch_targets(images: Float[Tensor, "n 3 h w"]) -> Float[Tensor, "n k 12"]:
    """Return for each patch nine numbers of its histogram of oriented gradients, and its mean colour.

    Args:
        images: Normalised pixels.
    """
    return torch.cat(edges_and_colours(images), dim=2)
