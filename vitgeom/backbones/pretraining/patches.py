"""Pictures cut into patches, and some of the patches chosen.   n = pictures, K = patches of one, q = values in a patch."""

from __future__ import annotations

import torch
from jaxtyping import Float, Int
from torch import Tensor


def to_patches(images: Float[Tensor, "n c h w"], *, side: int) -> Float[Tensor, "n k q"]:
    """Cut pictures into square patches, row by row, values in the order of a patch embedding's weights (channel, row, column).

    Args:
        images: Height and width are multiples of ``side``.
        side: Pixels.
    """
    count, channels, height, width = images.shape
    cut = images.reshape(count, channels, height // side, side, width // side, side)
    return cut.permute(0, 2, 4, 1, 3, 5).reshape(
        count, (height // side) * (width // side), channels * side * side
    )


def pick(values: Float[Tensor, "n k q"], chosen: Int[Tensor, "n m"]) -> Float[Tensor, "n m q"]:
    """Return the chosen rows of each picture.

    Args:
        values: One row per patch.
        chosen: Which patches of which picture.
    """
    return values.gather(1, chosen[..., None].expand(-1, -1, values.shape[-1]))


def draw_patches(
    count: int,
    *,
    total: int,
    keep: int,
    generator: torch.Generator,
    weight: Float[Tensor, " k"] | None = None,
) -> Int[Tensor, "n m"]:
    """Draw ``keep`` different patches for each of ``count`` pictures, in random order.

    Args:
        count: n.
        total: K.
        keep: m.
        generator: The only source of randomness.
        weight: Logarithm of each patch's weight; None: all alike. (Adding Gumbel noise and taking the largest draws without
            replacement in proportion to the weights.)
    """
    waits = -torch.log(torch.rand(count, total, generator=generator).clamp_min(1e-30))
    keys = -torch.log(waits.clamp_min(1e-30))
    return (keys if weight is None else keys + weight).topk(keep, dim=1).indices
