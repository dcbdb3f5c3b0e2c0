"""Where pre-training starts: weights that save a small transformer the steps in which it finds out that pictures are pictures.

- Patch embedding: the leading principal components of patches, nearly whitened.
- Positions: sines and cosines along both axes (L. Beyer et al. 2022).
- Attention: queries and keys near the identity, values and projection near minus the identity (A. Trockman, Z. Kolter 2023).

D = width, p = pixels of a patch side.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from vitgeom.backbones.pretraining.patches import to_patches

_LONGEST_WAVE = 100.0
_MOST_PATCHES = 20_000


@torch.no_grad()
def initialise(model: Any, images: Float[Tensor, "n 3 h w"], *, generator: torch.Generator) -> None:
    """Set patch embedding, positions and attention of a fresh ViT in place.

    Args:
        model: timm ViT with learned positions for all tokens.
        images: Normalised pixels whose patches are analysed.
        generator: The only source of randomness.
    """
    width, prefix = model.embed_dim, model.num_prefix_tokens
    weight, bias = principal_filters(
        to_patches(images, side=model.patch_embed.patch_size[0]), width=width, generator=generator
    )
    model.patch_embed.proj.weight.copy_(weight.view_as(model.patch_embed.proj.weight))
    model.patch_embed.proj.bias.copy_(bias)
    model.pos_embed[:, prefix:] = 0.3 * waves(model.patch_embed.grid_size[0], width=width)
    model.pos_embed[:, :prefix] = 0.1 * torch.randn(1, prefix, width, generator=generator)
    for block in model.blocks:
        _set_attention(block.attn, width=width, generator=generator)


def principal_filters(
    patches: Float[Tensor, "n k q"], *, width: int, generator: torch.Generator
) -> tuple[Float[Tensor, "d q"], Float[Tensor, " d"]]:
    """Return weight [D, 3pp] and bias [D] that map patches to their D leading components, nearly whitened and mixed.

    Args:
        patches: Patches of many pictures.
        width: D, at most the number of values in a patch.
        generator: Draws the mixing rotation and which patches are analysed.
    """
    rows = patches.flatten(0, 1)
    rows = rows[torch.randperm(len(rows), generator=generator)[:_MOST_PATCHES]]
    middle = rows.mean(0)
    variances, directions = torch.linalg.eigh((rows - middle).T @ (rows - middle) / len(rows))
    variances, directions = variances.flip(0)[:width], directions.flip(1)[:, :width]
    rotation = torch.linalg.qr(torch.randn(width, width, generator=generator))[0]
    weight = 0.3 * rotation @ (directions / (variances + 0.01 * variances.mean()).sqrt()).T
    return weight, -weight @ middle


def waves(side: int, *, width: int) -> Float[Tensor, "n d"]:
    """Return one row per cell of a square grid: sines and cosines of its row and column at D/4 wavelengths each.

    Args:
        side: Cells along a side.
        width: D, a multiple of 4.
    """
    rows, columns = torch.meshgrid(torch.arange(side).float(), torch.arange(side).float(), indexing="ij")
    frequencies = _LONGEST_WAVE ** -(torch.arange(width // 4) / (width // 4))
    phases = [axis.flatten()[:, None] * frequencies for axis in (rows, columns)]
    return torch.cat([wave(phase) for phase in phases for wave in (torch.sin, torch.cos)], dim=1)


def _set_attention(attention: Any, *, width: int, generator: torch.Generator) -> None:
    """Set W_q^T W_k near 0.7 I per head (at the head's rank) and W_proj W_v near -0.4 I."""
    head = width // attention.num_heads
    query, key, value = attention.qkv.weight.split(width)
    for start in range(0, width, head):
        left, right = _factors(0.7, 0.7, width=width, rank=head, generator=generator)
        query[start : start + head], key[start : start + head] = left.T, right
    left, right = _factors(0.4, -0.4, width=width, rank=width, generator=generator)
    value.copy_(right)
    attention.proj.weight.copy_(left)


def _factors(
    noise: float, identity: float, *, width: int, rank: int, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    """Return [D, r] and [r, D] whose product is the best rank-r approximation of noise Z + identity I, Z_ij ~ N(0, 1/D)."""
    target = noise * torch.randn(width, width, generator=generator) / math.sqrt(width) + identity * torch.eye(
        width
    )
    u, sigma, vh = torch.linalg.svd(target)
    root = sigma[:rank].sqrt()
    return u[:, :rank] * root, root[:, None] * vh[:rank]
