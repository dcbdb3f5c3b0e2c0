"""A small model with the interface of transformers' ``DepthAnythingForDepthEstimation`` on a DINOv2 backbone."""

from __future__ import annotations

from types import SimpleNamespace

import torch
import torch.nn.functional as F
from torch import Tensor, nn

WIDTH, DEPTH, PATCH = 12, 4, 4


class Layer(nn.Module):
    """A block that answers with a tuple, as before transformers 5, or with a tensor."""

    def __init__(self, *, in_tuple: bool) -> None:
        super().__init__()
        self.norm, self.qkv = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 3 * WIDTH)
        self.in_tuple = in_tuple

    def forward(self, x: Tensor) -> Tensor | tuple[Tensor]:
        heads = [part.unflatten(-1, (2, -1)).transpose(1, 2) for part in self.qkv(self.norm(x)).chunk(3, -1)]
        x = x + F.scaled_dot_product_attention(*heads).transpose(1, 2).flatten(2)
        return (x,) if self.in_tuple else x


class Embeddings(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.patches, self.cls = (
            nn.Conv2d(3, WIDTH, PATCH, stride=PATCH),
            nn.Parameter(torch.randn(1, 1, WIDTH)),
        )

    def forward(self, pixels: Tensor) -> Tensor:
        patches = self.patches(pixels).flatten(2).mT
        return torch.cat([self.cls.expand(len(pixels), -1, -1), patches], dim=1)


class StandInBackbone(nn.Module):
    def __init__(self, *, in_tuple: bool) -> None:
        super().__init__()
        self.config = SimpleNamespace(hidden_size=WIDTH, apply_layernorm=True)
        self.stage_names = ["stem", *(f"stage{number}" for number in range(1, DEPTH + 1))]
        self.out_features = ["stage2", "stage4"]
        self.embeddings, self.layernorm = Embeddings(), nn.LayerNorm(WIDTH)
        self.encoder = nn.Module()
        self.encoder.layer = nn.ModuleList(Layer(in_tuple=in_tuple) for _ in range(DEPTH))


class Neck(nn.Module):
    def forward(self, hidden: list[Tensor], rows: int, columns: int) -> list[Tensor]:
        maps = [part[:, 1:].mT.unflatten(2, (rows, columns)) for part in hidden]
        return [maps[1], maps[0] * torch.sigmoid(maps[1])]


class Head(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.out = nn.Conv2d(WIDTH, 1, 3, padding=1)

    def forward(self, fused: list[Tensor], rows: int, columns: int) -> Tensor:
        full = F.interpolate(fused[-1], (rows * PATCH, columns * PATCH), mode="bilinear", align_corners=True)
        return F.softplus(self.out(full))[:, 0]


class DepthAnythingStandIn(nn.Module):
    """``model(pixels)`` runs everything in one go, for oracles."""

    def __init__(self, *, in_tuple: bool = False) -> None:
        super().__init__()
        self.config = SimpleNamespace(patch_size=PATCH)
        self.backbone, self.neck, self.head = StandInBackbone(in_tuple=in_tuple), Neck(), Head()

    def forward(self, pixels: Tensor) -> Tensor:
        tokens, kept = self.backbone.embeddings(pixels), []
        for number, layer in enumerate(self.backbone.encoder.layer, start=1):
            after = layer(tokens)
            tokens = after[0] if isinstance(after, tuple) else after
            if f"stage{number}" in self.backbone.out_features:
                kept.append(self.backbone.layernorm(tokens))
        rows, columns = (side // PATCH for side in pixels.shape[-2:])
        return self.head(self.neck(kept, rows, columns), rows, columns)
