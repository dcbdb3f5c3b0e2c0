"""A small model with the interface of VGGT: alternating attention with positions, a list of tokens per layer, heads that take the list."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

WIDTH, DEPTH, PATCH, REGISTERS = 16, 3, 8, 2
PREFIX = 1 + REGISTERS


class Block(nn.Module):
    """Pre-norm attention with fused attention and an additive code of the positions in queries and keys."""

    def __init__(self) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.proj = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.place = nn.Linear(2, WIDTH)
        self.mlp = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.GELU(), nn.Linear(WIDTH, WIDTH))

    def forward(self, x: Tensor, pos: Tensor | None = None) -> Tensor:
        q, k, v = self.qkv(self.norm1(x)).chunk(3, dim=-1)
        code = self.place(pos.to(x.dtype))
        heads = [part.unflatten(-1, (2, -1)).transpose(1, 2) for part in (q + code, k + code, v)]
        mixed = F.scaled_dot_product_attention(*heads).transpose(1, 2).flatten(2)
        x = x + self.proj(mixed)
        return x + self.mlp(self.norm2(x))


class Aggregator(nn.Module):
    """Images [B, S, 3, H, W] in 0..1 -> ([B, S, N, 2 D] per layer, index of the first patch)."""

    def __init__(self) -> None:
        super().__init__()
        self.patch_embed = nn.Conv2d(3, WIDTH, PATCH, stride=PATCH)
        self.special = nn.Parameter(torch.randn(1, PREFIX, WIDTH))
        self.frame_blocks = nn.ModuleList(Block() for _ in range(DEPTH))
        self.global_blocks = nn.ModuleList(Block() for _ in range(DEPTH))
        self.aa_order, self.aa_block_size, self.patch_start_idx = ["frame", "global"], 1, PREFIX

    def forward(self, images: Tensor) -> tuple[list[Tensor], int]:
        batch, frames, _, height, width = images.shape
        patches = self.patch_embed((images.flatten(0, 1) - 0.45) / 0.25).flatten(2).mT
        tokens = torch.cat([self.special.expand(batch * frames, -1, -1), patches], dim=1)
        rows, columns = torch.meshgrid(
            torch.arange(height // PATCH), torch.arange(width // PATCH), indexing="ij"
        )
        places = torch.stack([rows.flatten(), columns.flatten()], dim=1) + 1
        pos = torch.cat([torch.zeros(PREFIX, 2, dtype=places.dtype), places])[None]
        found = []
        for frame, over_all in zip(self.frame_blocks, self.global_blocks, strict=True):
            framed = frame(tokens, pos=pos)
            tokens = over_all(framed, pos=pos)
            found.append(torch.cat([framed, tokens], dim=-1)[:, None])
        return found, PREFIX


class MapHead(nn.Module):
    """Reads the first and the last layer; returns values [B, S, H, W, C] and confidence [B, S, H, W]."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.early, self.late = nn.Linear(2 * WIDTH, channels + 1), nn.Linear(2 * WIDTH, channels + 1)

    def forward(self, layers: list[Tensor], *, images: Tensor, patch_start_idx: int) -> tuple[Tensor, Tensor]:
        both = self.early(layers[0]) * torch.sigmoid(self.late(layers[-1]))
        height, width = images.shape[-2:]
        maps = both[:, 0, patch_start_idx:].mT.unflatten(2, (height // PATCH, width // PATCH))
        maps = F.interpolate(maps, size=(height, width), mode="bilinear", align_corners=True)
        return maps[:, :-1].exp().movedim(1, -1)[:, None], 1 + maps[:, -1:].exp()


class CameraHead(nn.Module):
    """Refines a pose, which it detaches first as VGGT does; returns every step."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(2 * WIDTH, 9), nn.Linear(9, 9)

    def forward(self, layers: list[Tensor]) -> list[Tensor]:
        start = self.first(layers[-1][:, :, 0])
        fixed = start.detach()
        return [start, fixed + torch.tanh(self.second(fixed) + self.first(layers[-1][:, :, 0]))]


class VggtStandIn(nn.Module):
    """``model(images)`` as VGGT answers it, for oracles."""

    def __init__(self) -> None:
        super().__init__()
        self.aggregator = Aggregator()
        self.depth_head, self.point_head, self.camera_head = MapHead(1), MapHead(3), CameraHead()

    def forward(self, images: Tensor) -> dict[str, Tensor]:
        layers, start = self.aggregator(images)
        depth, _ = self.depth_head(layers, images=images, patch_start_idx=start)
        points, _ = self.point_head(layers, images=images, patch_start_idx=start)
        return {"depth": depth, "world_points": points, "pose_enc": self.camera_head(layers)[-1]}
