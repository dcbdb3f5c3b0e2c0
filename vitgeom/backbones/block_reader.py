"""The weights of timm's plain pre-norm block, read only from modules whose arithmetic is known exactly.

A subclass, a hook or a part that we do not know may compute something else, so types are compared exactly.
"""

from __future__ import annotations

from typing import Any

from timm.layers import DropPath, GluMlp, LayerNorm, LayerScale, Mlp
from timm.layers.activations import GELU, GELUTanh, QuickGELU
from timm.layers.attention import Attention
from timm.models.vision_transformer import Block
from torch import nn

from vitgeom.backbones.block_weights import (
    AttentionWeights,
    BlockWeights,
    LinearWeights,
    MlpWeights,
    NormWeights,
    OtherBlocks,
)

NORMS = (nn.LayerNorm, LayerNorm)
ACTIVATIONS = (nn.GELU, GELU, GELUTanh, QuickGELU, nn.SiLU)
# Evaluation mode makes these the identity.
IDENTITIES = (nn.Identity, nn.Dropout, DropPath)


def read_block(block: nn.Module, *, name: str) -> BlockWeights:
    """Return the weights of a block; they are shared with it, not copied.

    Args:
        block: One block of a model in evaluation mode.
        name: What messages call it.

    Raises:
        OtherBlocks: Some part is not known.
    """
    _require(block, (Block,), name)
    any_block: Any = block
    for part in ("drop_path1", "drop_path2"):
        _require(getattr(block, part), IDENTITIES, f"{name}.{part}")
    return BlockWeights(
        norm1=read_norm(any_block.norm1, name=f"{name}.norm1"),
        attention=_attention(any_block.attn, f"{name}.attn"),
        scale1=_scale(any_block.ls1, f"{name}.ls1"),
        norm2=read_norm(any_block.norm2, name=f"{name}.norm2"),
        mlp=_mlp(any_block.mlp, f"{name}.mlp"),
        scale2=_scale(any_block.ls2, f"{name}.ls2"),
    )


def read_norm(norm: Any, *, name: str) -> NormWeights:
    """Return the weights of a layer norm over the last axis.

    Args:
        norm: The module.
        name: What messages call it.

    Raises:
        OtherBlocks: It is another kind of norm.
    """
    _require(norm, NORMS, name)
    if len(norm.normalized_shape) != 1 or getattr(norm, "_fast_norm", False):
        raise OtherBlocks(
            f"{name} normalises more than the last axis or in narrow arithmetic, which is not written out."
        )
    return NormWeights(norm.weight, norm.bias, norm.eps)


def _attention(attn: Any, name: str) -> AttentionWeights:
    _require(attn, (Attention,), name)
    _require(attn.norm, (nn.Identity,), f"{name}.norm")
    _require(attn.proj_drop, IDENTITIES, f"{name}.proj_drop")
    if attn.gate is not None:
        raise OtherBlocks(f"{name} is gated, which is not written out.")
    return AttentionWeights(
        qkv=_linear(attn.qkv, f"{name}.qkv"),
        num_heads=attn.num_heads,
        q_norm=_norm_or_none(attn.q_norm, f"{name}.q_norm"),
        k_norm=_norm_or_none(attn.k_norm, f"{name}.k_norm"),
        proj=_linear(attn.proj, f"{name}.proj"),
        scale=float(attn.scale),
    )


def _mlp(mlp: Any, name: str) -> MlpWeights:
    _require(mlp, (Mlp, GluMlp), name)
    _require(mlp.norm, (nn.Identity,), f"{name}.norm")
    _require(mlp.act, ACTIVATIONS, f"{name}.act")
    for part in ("drop1", "drop2"):
        _require(getattr(mlp, part), IDENTITIES, f"{name}.{part}")
    gated = None if type(mlp) is Mlp else "last" if mlp.gate_last else "first"
    return MlpWeights(
        fc1=_linear(mlp.fc1, f"{name}.fc1"),
        activation=mlp.act,
        gated=gated,
        fc2=_linear(mlp.fc2, f"{name}.fc2"),
    )


def _linear(linear: Any, name: str) -> LinearWeights:
    _require(linear, (nn.Linear,), name)
    return LinearWeights(linear.weight, linear.bias)


def _scale(scale: Any, name: str) -> Any:
    _require(scale, (nn.Identity, LayerScale), name)
    return getattr(scale, "gamma", None)


def _norm_or_none(norm: Any, name: str) -> NormWeights | None:
    return None if type(norm) is nn.Identity else read_norm(norm, name=name)


def _require(module: nn.Module, types: tuple[type, ...], name: str) -> None:
    if type(module) not in types:
        known = " or ".join(kind.__name__ for kind in types)
        raise OtherBlocks(f"{name} is a {type(module).__name__}, but only {known} is written out.")
    if module._forward_hooks or module._forward_pre_hooks or "forward" in vars(module):
        raise OtherBlocks(f"{name} has a hook or a forward of its own, which may change what it computes.")
