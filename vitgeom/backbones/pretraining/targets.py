"""What both trainings ask about a picture beside labels: edge directions and colours of its patches."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from vitgeom.backbones.embedded import ARCHITECTURES
from vitgeom.backbones.pretraining.gradients import gradient_histograms
from vitgeom.backbones.pretraining.patches import to_patches


def patch_targets(images: Float[Tensor, "n 3 h w"]) -> Float[Tensor, "n k 12"]:
    """Return for each patch nine numbers of its histogram of oriented gradients, and its mean colour.

    Args:
        images: Normalised pixels.
    """
    side = ARCHITECTURES["nano_selfsup"]["patch_size"]
    colours = to_patches(images, side=side).unflatten(2, (3, -1)).mean(3)
    return torch.cat([gradient_histograms(images, side=side), colours], dim=2)
