"""A dense head on a ViT's own forward pass, one operation after the other, for one image."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from tests.oracles.tokens_by_hooks import tokens_by_hooks


@torch.no_grad()
def dpt_map(backbone: Any, head: Any, images: Tensor, *, taps: tuple[int, ...], normed: bool) -> Tensor:
    """Return [1, C, H, W] for one image [1, 3, H, W]; the head's weights are used, none of its methods."""
    layers = tokens_by_hooks(backbone.model, images)[0]
    rows, columns = backbone.spec.layout.grid
    maps = []
    for index, tap in enumerate(taps):
        tokens = layers[tap - 1]
        tokens = backbone.model.norm(tokens) if normed else tokens
        part, patches = head.reassemble[index], tokens[backbone.spec.layout.num_prefix :]
        if part.mix is not None:
            both = torch.cat([patches, tokens[0].repeat(len(patches), 1)], dim=1)
            patches = F.gelu(both @ part.mix[0].weight.T + part.mix[0].bias)
        grid = torch.stack([patches[row * columns : (row + 1) * columns].T for row in range(rows)], dim=1)
        maps.append(head.adapt[index](part.rescale(part.project(grid[None]))))

    def unit(block: Any, x: Tensor) -> Tensor:
        return x + block.second(block.first(x.clamp(min=0)).clamp(min=0))

    fused = head.fuse[-1].out(_up(unit(head.fuse[-1].after, maps[-1]), maps[-2].shape[-2:]))
    for index in range(len(maps) - 2, 0, -1):
        joined = fused + unit(head.fuse[index].before, maps[index])
        fused = head.fuse[index].out(_up(unit(head.fuse[index].after, joined), maps[index - 1].shape[-2:]))
    joined = fused + unit(head.fuse[0].before, maps[0])
    finest = _up(unit(head.fuse[0].after, joined), [2 * side for side in maps[0].shape[-2:]])
    full = _up(head.shrink(head.fuse[0].out(finest)), images.shape[-2:])
    last = head.predict[2](head.predict[0](full).clamp(min=0))
    assert head.config.final == "softplus"
    return torch.log1p(torch.exp(last))


def _up(maps: Tensor, size: Any) -> Tensor:
    return F.interpolate(maps, size=list(size), mode="bilinear", align_corners=True)
