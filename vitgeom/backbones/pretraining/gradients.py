"""Histograms of oriented gradients, one per patch (N. Dalal, B. Triggs 2005): shape without colour and lighting."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

ORIENTATIONS = 9
_FLAT = 0.05  # gradients below this (on the scale of normalised pixels) count as none


def gradient_histograms(images: Float[Tensor, "n 3 h w"], *, side: int) -> Float[Tensor, "n k 9"]:
    """Return for each patch how strongly edges run in each of nine directions, relative to its surroundings.

    At each pixel the channel with the strongest gradient counts; its strength is shared between the two nearest of nine
    orientations over 180 degrees. Sums over a patch are divided by the root mean square over it and its eight neighbours.

    Args:
        images: Normalised pixels; height and width are multiples of ``side``.
        side: Pixels of a patch side.
    """
    count, _, height, width = images.shape
    across = F.pad(images[..., 2:] - images[..., :-2], (1, 1))
    down = F.pad(images[..., 2:, :] - images[..., :-2, :], (0, 0, 1, 1))
    channel = (across.square() + down.square()).argmax(1, keepdim=True)
    across, down = across.gather(1, channel)[:, 0], down.gather(1, channel)[:, 0]
    strength = (across.square() + down.square()).sqrt()
    place = torch.atan2(down, across).remainder(math.pi) * (ORIENTATIONS / math.pi)
    below = place.floor()
    share = place - below
    votes = torch.zeros(count, height, width, ORIENTATIONS)
    votes.scatter_add_(3, (below.long() % ORIENTATIONS)[..., None], (strength * (1 - share))[..., None])
    votes.scatter_add_(3, ((below.long() + 1) % ORIENTATIONS)[..., None], (strength * share)[..., None])
    cells = F.avg_pool2d(votes.permute(0, 3, 1, 2), side)
    energy = F.pad(cells.square().sum(1, keepdim=True), (1, 1, 1, 1), mode="replicate")
    around = F.avg_pool2d(energy, 3, stride=1)
    return (cells / (around + ORIENTATIONS * _FLAT**2).sqrt()).flatten(2).mT
