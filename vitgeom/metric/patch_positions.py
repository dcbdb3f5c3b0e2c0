"""Where on the image a patch token lies, as a few smooth waves.   P = patches, W = waves.

Tokens of a frozen backbone know their place only in the way that their backbone put it there. Directions of dense decoders are patterns over the image, so it is told to the net: an order of
tokens is an input, too.
"""

from __future__ import annotations

import math

import torch
from jaxtyping import Float
from torch import Tensor

from vitgeom.errors import InvalidInput

FREQUENCIES = 4
NUM_WAVES = 4 * FREQUENCIES
"""Half waves across the image 1..4, sine and cosine, both axes."""


def patch_positions(num_patches: int, *, grid: tuple[int, int] | None = None) -> Float[Tensor, "p w"]:
    """Return sin and cos of (pi k x) and (pi k y), x and y in [-1/2, 1/2] from edge to edge: the same place has the same waves at every resolution.

    Args:
        num_patches: P, in raster order.
        grid: Rows and columns; None for the one nearest to a square, with no more rows than columns.

    Raises:
        InvalidInput: The grid has another number of patches.
    """
    rows, columns = grid or squarest(num_patches)
    if rows * columns != num_patches:
        raise InvalidInput(
            f"grid must hold the {num_patches} patches, got {rows} x {columns}. Give (rows, columns) of the patches, without prefix tokens."
        )
    waves = []
    for length in (rows, columns):
        place = (torch.arange(length) + 0.5) / length - 0.5
        angle = math.pi * place[:, None] * torch.arange(1, FREQUENCIES + 1)
        waves.append(torch.cat([angle.sin(), angle.cos()], dim=1))
    down, across = waves
    size = (rows, columns, 2 * FREQUENCIES)
    return torch.cat([down[:, None].expand(size), across[None].expand(size)], dim=2).flatten(0, 1)


def squarest(num_patches: int) -> tuple[int, int]:
    """Return (rows, columns) nearest to a square, rows <= columns.

    Args:
        num_patches: P >= 1.
    """
    rows = next(side for side in range(math.isqrt(num_patches), 0, -1) if num_patches % side == 0)
    return rows, num_patches // rows
