"""Token scores that need no Jacobian: what importance is compared with.   B = images, N = tokens, D = width, H = heads, P = width of a head."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Generator, Tensor

from vitgeom.backbones import Backbone
from vitgeom.backbones.block_weights import NormWeights
from vitgeom.errors import InvalidInput


def feature_norm(features_BND: Float[Tensor, "b n d"]) -> Float[Tensor, "b n"]:
    """Return ||f_t|| of every token.

    Args:
        features_BND: Tokens of a layer.
    """
    return features_BND.norm(dim=-1)


@torch.no_grad()
def cls_attention(
    features_BND: Float[Tensor, "b n d"], backbone: Backbone, *, layer: int
) -> Float[Tensor, "b n"]:
    """Return how much the class token attends to every token in the block that sees these features, mean over heads; rows sum to 1.

    The score of EViT (Liang et al. 2022) and of many methods after it. Cost: one norm, queries of one token and keys of all.

    Args:
        features_BND: Tokens of layer ``layer``.
        backbone: Whose they are, of plain pre-norm blocks.
        layer: Blocks that have run before the features; block ``layer`` (from 0) looks at them. After the last block there is none:
            0 <= layer < L.

    Raises:
        InvalidInput: No class token, no block after the layer, or blocks of another form (the part is named).
    """
    layout, spec = backbone.spec.layout, backbone.spec
    if not layout.num_cls:
        raise InvalidInput(
            f"backbone {spec.name!r} has no class token whose attention could be looked at. Use feature_norm, or an importance head."
        )
    if not 0 <= layer < spec.num_blocks:
        raise InvalidInput(
            f"layer must lie between 0 and {spec.num_blocks - 1} so that a block looks at its tokens, got {layer}."
        )
    [block] = backbone.block_weights(layer, layer + 1)
    weights = block.attention
    x = _normed(block.norm1, features_BND)
    q, k, _ = (
        F.linear(x, weights.qkv.weight, weights.qkv.bias)
        .unflatten(-1, (3, weights.num_heads, -1))
        .permute(2, 0, 3, 1, 4)
    )
    q, k = _normed(weights.q_norm, q[:, :, :1]), _normed(weights.k_norm, k)
    return (q @ k.mT * weights.scale).softmax(dim=-1)[:, :, 0].mean(dim=1)


def random_scores(shape: tuple[int, int], *, generator: Generator) -> Float[Tensor, "b n"]:
    """Return independent uniform scores: the floor that every other score has to beat.

    Args:
        shape: (B, N).
        generator: The only source of randomness.
    """
    return torch.rand(shape, generator=generator)


def _normed(weights: NormWeights | None, x: Tensor) -> Tensor:
    if weights is None:
        return x
    return F.layer_norm(x, x.shape[-1:], weights.weight, weights.bias, weights.eps)
