"""A small decoder that has what real ones have: attention, norm, dropout, a nonlinearity."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class SmallDecoder(nn.Module):
    """[N, width] -> [7], smooth, in float64; the same weights every time."""

    def __init__(self, width: int) -> None:
        super().__init__()
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(5)
            self.norm = nn.LayerNorm(width, dtype=torch.float64)
            self.qkv = nn.Linear(width, 3 * width, dtype=torch.float64)
            self.dropout = nn.Dropout(0.5)
            self.head = nn.Linear(width, 7, dtype=torch.float64)

    def forward(self, features: Tensor) -> Tensor:
        q, k, v = self.qkv(self.norm(features))[None].chunk(3, dim=-1)
        mixed = F.scaled_dot_product_attention(q[None], k[None], v[None])[0, 0]
        return self.head(F.gelu(self.dropout(mixed)).mean(dim=0))
