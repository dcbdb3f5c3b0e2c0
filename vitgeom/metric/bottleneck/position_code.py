"""Sines and cosines of places in the picture: one code for every patch grid.   P = places, C = length of the code."""

from __future__ import annotations

import math

import torch
from jaxtyping import Float
from torch import Tensor

LONGEST, SHORTEST = 4.0, 1 / 32
"""Wavelengths in picture sides: longer than the picture, so that ends differ, down to half a patch of a 16 x 16 grid."""


def position_code(places: Float[Tensor, "p 2"], *, length: int) -> Float[Tensor, "p c"]:
    """Return (sin, cos) of each coordinate at length / 4 wavelengths in geometric steps.

    Args:
        places: (y, x), the picture being the unit square.
        length: C, a multiple of 4.
    """
    count = length // 4
    steps = torch.linspace(0, 1, count, dtype=places.dtype, device=places.device)
    waves = 2 * math.pi / (LONGEST * (SHORTEST / LONGEST) ** steps)
    angles = (places[:, :, None] * waves).flatten(1)
    return torch.cat([angles.sin(), angles.cos()], dim=1)


def patch_places(grid: tuple[int, int], *, dtype: torch.dtype, device: torch.device) -> Float[Tensor, "p 2"]:
    """Return the centres of the patches, row by row; a place keeps its coordinates when the grid gets finer.

    Args:
        grid: (rows, columns).
        dtype: Of the coordinates.
        device: Where they are needed.
    """
    rows, columns = grid
    y = (torch.arange(rows, dtype=dtype, device=device) + 0.5) / rows
    x = (torch.arange(columns, dtype=dtype, device=device) + 0.5) / columns
    return torch.stack([y.repeat_interleave(columns), x.repeat(rows)], dim=1)


def spread_places(count: int) -> Float[Tensor, "p 2"]:
    """Return places that cover the unit square evenly whatever their number (additive recurrence of the plastic number, M. Roberts 2018).

    Args:
        count: P >= 1.
    """
    plastic = 1.32471795724474602596
    steps = torch.tensor([1 / plastic, 1 / plastic**2], dtype=torch.float64)
    return ((0.5 + torch.arange(1, count + 1, dtype=torch.float64)[:, None] * steps) % 1.0).float()
