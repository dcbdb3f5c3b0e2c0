"""Backbones of three narrow blocks with random weights, one for each form that blocks come in."""

from __future__ import annotations

from functools import partial
from typing import Any

import torch
from timm.layers import GluMlp
from timm.models.vision_transformer import ParallelScalingBlock
from torch import Tensor, nn

from vitgeom.backbones import Backbone, BackboneSpec
from vitgeom.backbones.anatomy import PlainAnatomy, read_layout
from vitgeom.backbones.preprocessing import Preprocessing
from vitgeom.backbones.timm_models import build_plain
from vitgeom.seeding import generator_for

SIZE = (24, 16)
GATED_FIRST = partial(GluMlp, act_layer=nn.SiLU, gate_last=False)
# Blocks that are written out.
PLAIN: dict[str, dict[str, Any]] = {
    "plain": {},
    "query and key norm, layer scale, registers": {"qk_norm": True, "init_values": 0.5, "reg_tokens": 2},
    "no biases": {"qkv_bias": False, "proj_bias": False},
    "gated MLP, gate first": {"mlp_layer": GATED_FIRST, "act_layer": nn.SiLU},
    "gated MLP, gate last": {"mlp_layer": GluMlp, "act_layer": nn.SiLU},
    "no class token, norm after the pool": {"class_token": False, "global_pool": "avg"},
}
# Blocks that are not, and what the message says.
OTHER: dict[str, tuple[dict[str, Any], str]] = {
    "parallel": (
        {"block_fn": ParallelScalingBlock},
        r"blocks\[1\] is a ParallelScalingBlock, but only Block",
    ),
    "normed attention": ({"scale_attn_norm": True}, r"blocks\[1\].attn.norm is a LayerNorm"),
    "normed MLP": ({"scale_mlp_norm": True}, r"blocks\[1\].mlp.norm is a LayerNorm"),
    "unknown activation": ({"act_layer": nn.Softplus}, r"blocks\[1\].mlp.act is a Softplus"),
    "RMS norm": ({"norm_layer": partial(nn.RMSNorm, eps=1e-6)}, r"blocks\[1\].norm1 is a RMSNorm"),
}


@torch.no_grad()
def small_backbone(settings: dict[str, Any], *, dtype: torch.dtype = torch.float64) -> Backbone:
    """Build one; every weight is moved, so that no part is the identity or zero as it is right after initialisation."""
    data = {"input_size": (3, *SIZE), "mean": (0.5,) * 3, "std": (0.5,) * 3}
    data |= {"interpolation": "bicubic", "crop_pct": 1.0}
    shape = {"img_size": SIZE, "patch_size": 8, "embed_dim": 12, "depth": 3, "num_heads": 2}
    fixed = {"num_classes": 0, "mlp_ratio": 2.0}
    model = build_plain({**shape, **fixed, **settings}, data, seed=0).to(dtype)
    generator = generator_for(1, "stir")
    for parameter in model.parameters():
        parameter += 0.2 * torch.randn(parameter.shape, generator=generator, dtype=torch.float64).to(dtype)
    preprocessing = Preprocessing(data, image_size=SIZE)
    spec = BackboneSpec(
        name="small",
        source="test",
        architecture="small",
        weights_digest="0" * 64,
        num_blocks=3,
        width=12,
        image_size=SIZE,
        patch_size=(8, 8),
        layout=read_layout(model),
        preprocessing=preprocessing.to_json(),
        pos_embed="learned",
    )
    return Backbone(PlainAnatomy(model), spec, preprocessing)


def tokens_of(backbone: Backbone, *, count: int | None = None) -> Tensor:
    """Draw tokens for a backbone, as many as its layout has unless told otherwise."""
    shape = (count or backbone.spec.layout.num_tokens, backbone.spec.width)
    drawn = torch.randn(shape, generator=generator_for(2, "tokens"), dtype=torch.float64)
    return drawn.to(backbone.dtype)
