"""Taps of many pictures, computed once: the backbone is frozen, so a head sees the same tokens in every epoch."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from jaxtyping import Float, UInt8
from torch import Tensor

from vitgeom.backbones import Backbone
from vitgeom.backbones.pretraining.pictures import normalise
from vitgeom.decoders.head_decoder import as_head_input

BATCH = 100


@torch.no_grad()
def cached_taps(
    backbone: Backbone, images: UInt8[Tensor, "n 3 h w"], *, taps: Sequence[int]
) -> Float[Tensor, "n t n_tokens d"]:
    """Return the taps of every picture as heads see them, after the final norm. Cost: one pass; n T N D numbers.

    Args:
        backbone: An embedded backbone.
        images: 0..255, at its image size.
        taps: Layers, 1..L.
    """
    parts = []
    for start in range(0, len(images), BATCH):
        pixels = normalise(images[start : start + BATCH])
        tokens = backbone.capture(pixels, token_layers=[tap - 1 for tap in taps]).tokens
        assert tokens is not None
        parts += as_head_input(backbone, [tokens], normed=True)
    return torch.cat(parts)
