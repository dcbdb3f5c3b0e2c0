"""Token positions as slots: every prefix token is one, patches are seen through cosines over the picture, whatever their grid.

B = images, N = tokens, P = prefix tokens, K = waves per side, S = P + K^2 slots, W = numbers per token.
"""

from __future__ import annotations

import math

import torch
from jaxtyping import Float
from torch import Tensor


def cosine_bank(
    grid: tuple[int, int], *, waves: int, dtype: torch.dtype, device: torch.device
) -> Float[Tensor, "n k"]:
    """Return cos(pi i y) cos(pi j x) at the patches for i, j < K, each with mean square 1; they are orthogonal over the patches.

    Functions that a grid is too coarse for are zero.

    Args:
        grid: (rows, columns).
        waves: K.
        dtype: Of the result.
        device: Where it is needed.
    """
    y, x = (_cosines(side, waves=waves, dtype=dtype, device=device) for side in grid)
    return (y[:, None, :, None] * x[None, :, None, :]).reshape(grid[0] * grid[1], waves**2)


def _cosines(side: int, *, waves: int, dtype: torch.dtype, device: torch.device) -> Tensor:
    places = (torch.arange(side, dtype=dtype, device=device) + 0.5) / side
    orders = torch.arange(waves, dtype=dtype, device=device)
    heights = torch.where(orders == 0, 1.0, math.sqrt(2)) * (orders < side)
    return (math.pi * places[:, None] * orders).cos() * heights.to(dtype)


def slots_of(tokens: Float[Tensor, "b n w"], bank: Float[Tensor, "p k"]) -> Float[Tensor, "b s w"]:
    """Return prefix tokens as they are, and the mean over patches of patch times cosine.

    Args:
        tokens: Prefix tokens first.
        bank: Of the patches' grid.
    """
    prefix = tokens.shape[1] - len(bank)
    return torch.cat([tokens[:, :prefix], bank.mT @ tokens[:, prefix:] / len(bank)], dim=1)


def tokens_of(slots: Float[Tensor, "b s w"], bank: Float[Tensor, "p k"]) -> Float[Tensor, "b n w"]:
    """Return the tokens with these slots; the inverse of :func:`slots_of` for tokens that the cosines can express.

    Args:
        slots: As :func:`slots_of` orders them.
        bank: Of the patches' grid.
    """
    prefix = slots.shape[1] - bank.shape[1]
    return torch.cat([slots[:, :prefix], bank @ slots[:, prefix:]], dim=1)
