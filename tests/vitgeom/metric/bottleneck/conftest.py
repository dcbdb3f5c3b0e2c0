"""A head on all layers of a backbone of three narrow blocks, in float64, and a bottleneck for it."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from tests.support.small_backbones import SIZE, small_backbone
from vitgeom.decoders import head_decoder
from vitgeom.decoders.random_head import random_head
from vitgeom.metric.bottleneck import BottleneckVAE, JoinedTaps, bottleneck_for

HERE = Path(__file__).parent
TAPS = (1, 2, 3)
SMALL = {"registers": 2, "latent": 3, "hidden": 16, "blocks": 1, "heads": 2, "waves": 2, "principal": 4}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """torch itself uses torch.jit.script the first time a forward derivative is taken in a process."""
    for item in items:
        if item.path.is_relative_to(HERE):
            for kind in ("FutureWarning", "DeprecationWarning"):
                item.add_marker(pytest.mark.filterwarnings(f"ignore:`torch.jit.script` is deprecated:{kind}"))


class SmoothHead(nn.Module):
    """Taps [B, N, 12] -> [B, 7]: curved, and every patch counts differently."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Linear(12 * len(TAPS), 5)
        self.out = nn.Linear(6 * 5, 7)

    def forward(self, taps, *, geometry):
        patches = geometry.patches(torch.cat(taps, dim=-1))
        return self.out(self.layers(patches).tanh().flatten(1))


@cache
def small_joined(*, prefix: int = 1, seed: int = 0, taps: tuple[int, ...] = TAPS) -> JoinedTaps:
    """Tokens [6 + prefix, 36]; prefix 1 is a class token, more are registers beside it."""
    backbone = small_backbone({"reg_tokens": prefix - 1} if prefix > 1 else {})
    head = random_head(SmoothHead, seed=seed)
    return JoinedTaps(head_decoder(backbone, head, layer=taps[-1], taps=taps, name="smooth"))


def pictures(count: int, *, seed: int = 0) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(count, 3, *SIZE, generator=generator, dtype=torch.float64)


@torch.no_grad()
def stirred(vae: BottleneckVAE, *, seed: int = 3) -> BottleneckVAE:
    """Move every weight, so that no part is zero as it is at the start of training."""
    generator = torch.Generator().manual_seed(seed)
    for weight in vae.parameters():
        weight += 0.3 * torch.randn(weight.shape, generator=generator, dtype=weight.dtype)
    return vae


def small_bottleneck(joined: JoinedTaps, **numbers) -> BottleneckVAE:
    return stirred(bottleneck_for(joined, **{**SMALL, **numbers})).double()


@pytest.fixture
def joined() -> JoinedTaps:
    return small_joined()


@pytest.fixture
def tokens(joined) -> Tensor:
    return joined.tokens(pictures(5))
