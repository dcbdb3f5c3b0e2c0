"""Small random backbones, one for each way in which Vision Transformers differ."""

from __future__ import annotations

from functools import cache

import pytest
import torch

from vitgeom.backbones import Backbone, load_backbone
from vitgeom.backbones.anatomy import PlainAnatomy, read_layout
from vitgeom.backbones.digest import weights_digest
from vitgeom.backbones.preprocessing import Preprocessing
from vitgeom.backbones.spec import BackboneSpec
from vitgeom.backbones.timm_models import build_plain
from vitgeom.seeding import generator_for

# What each stands for is asserted in test_anatomy.py.
KINDS = {
    "class token": ("test_vit", 64),
    "no class token, average pool before the norm": ("test_vit2", 64),
    "no class token, attention pool": ("test_vit3", 64),
    "distillation token": ("deit_tiny_distilled_patch16_224", 64),
    "layer scale, positions on patches only": ("deit3_small_patch16_224", 48),
    "norm before the blocks, rectangular": ("vit_xsmall_patch16_clip_224", (32, 64)),
    "registers": ("vit_small_patch14_reg4_dinov2", 56),
    "rotary, registers": ("vit_small_patch16_dinov3", (48, 32)),
    "rotary and learned positions": ("eva02_tiny_patch14_224", 56),
    "rotary per block": ("vit_small_patch16_rope_mixed_224", 48),
    "convolutional stem": ("vit_tiny_r_s16_p8_224", 64),
    "query and key norm": (None, (32, 48)),
    "embedded": ("nano_supervised", None),
    "embedded, registers": ("nano_selfsup", (32, 64)),
}


@torch.no_grad()
def stir(backbone: Backbone, *, scale: float = 0.05) -> Backbone:
    """Move every weight, so that no part is the identity or zero as it is right after initialisation."""
    generator = generator_for(1, "stir")
    for parameter in backbone.model.parameters():
        noise = torch.randn(parameter.shape, generator=generator, dtype=torch.float32)
        parameter.add_(scale * noise.to(parameter.dtype))
    return backbone


def with_query_key_norm(image_size: tuple[int, int]) -> Backbone:
    """timm has no small model with it, so one is built from the constructor."""
    data = {
        "input_size": (3, *image_size),
        "mean": (0.5,) * 3,
        "std": (0.5,) * 3,
        "interpolation": "bicubic",
        "crop_pct": 1.0,
    }
    model = build_plain(
        {
            "img_size": image_size,
            "patch_size": 8,
            "embed_dim": 32,
            "depth": 3,
            "num_heads": 2,
            "num_classes": 0,
            "qk_norm": True,
        },
        data,
        seed=0,
    )
    preprocessing = Preprocessing(data, image_size=image_size)
    digest = weights_digest(model.state_dict())
    spec = BackboneSpec(
        "qk",
        "test",
        "qk",
        digest,
        3,
        32,
        image_size,
        (8, 8),
        read_layout(model),
        preprocessing.to_json(),
        "learned",
    )
    return Backbone(PlainAnatomy(model), spec, preprocessing)


@cache
def backbone_of(kind: str) -> Backbone:
    """Build each kind once per test run."""
    name, size = KINDS[kind]
    backbone = (
        with_query_key_norm(size) if name is None else load_backbone(name, image_size=size, pretrained=False)
    )
    return stir(backbone)


@pytest.fixture(params=list(KINDS))
def backbone(request: pytest.FixtureRequest) -> Backbone:
    """Each kind in turn; frozen, so shared between tests."""
    return backbone_of(request.param)


@pytest.fixture
def nano() -> Backbone:
    """The cheapest model with a class token and registers, random weights; a fresh one, so a test may break it."""
    return stir(load_backbone("nano_selfsup", pretrained=False, image_size=32))


@pytest.fixture
def headless() -> Backbone:
    """A model without class token."""
    return backbone_of("no class token, average pool before the norm")


@pytest.fixture
def images():
    """Return a function that draws preprocessed-looking pixels for a backbone."""

    def draw(backbone: Backbone, count: int = 3) -> torch.Tensor:
        return torch.randn(count, 3, *backbone.spec.image_size, generator=generator_for(0, "images"))

    return draw
