"""Which energies of a target can be learnt from.   B = images, R = directions of the targets, r = those that count.

Where sigma_j is next to sigma_{j+1} the two directions are defined only up to a rotation of both, so neither index has an energy of its own: *both* are left out. The last mode, r,
is compared with mode r + 1 where the targets hold one; where they do not, only its predecessor can speak against it. Modes without energy have no logarithm and are left out, too.
"""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

NEAR = 1.05
"""Modes whose singular values differ by a smaller factor are nearly degenerate."""


def separated_modes(
    sigma: Float[Tensor, "b R"], *, rank: int, num_found: Int[Tensor, " b"] | None = None
) -> Bool[Tensor, "b r"]:
    """Tell for each of the first r modes whether its energy counts.

    Args:
        sigma: Singular values, descending.
        rank: Modes that are asked for; more than R are answered for R.
        num_found: Directions there are in truth; None for all.
    """
    there = sigma > 0
    if num_found is not None:
        there = there & (torch.arange(sigma.shape[1], device=sigma.device) < num_found[:, None])
    # A mode that does not exist is no neighbour: it is far below.
    close = (sigma[:, :-1] < NEAR * sigma[:, 1:]) & there[:, 1:]
    none = torch.zeros_like(there[:, :1])
    degenerate = torch.cat([close, none], dim=1) | torch.cat([none, close], dim=1)
    return (there & ~degenerate)[:, :rank]
