"""The weights of one pre-norm Transformer block as plain tensors, for arithmetic that needs no module.

y = x + s1 * proj(attention(norm1(x))),  z = y + s2 * fc2(gate(fc1(norm2(y)))).   D = width, H = hidden width of the MLP, P = D of a head.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor

from vitgeom.errors import InvalidInput


class OtherBlocks(InvalidInput):
    """Blocks that are not of the plain pre-norm form; the part that differs is named."""


@dataclass(frozen=True)
class NormWeights:
    """A layer norm over the last axis.

    Attributes:
        weight: [D], or None for ones.
        bias: [D], or None for zeros.
        eps: What is added to the variance.
    """

    weight: Tensor | None
    bias: Tensor | None
    eps: float


@dataclass(frozen=True)
class LinearWeights:
    """x -> W x + b.

    Attributes:
        weight: W, [out, in].
        bias: b, [out], or None for zeros.
    """

    weight: Tensor
    bias: Tensor | None


@dataclass(frozen=True)
class AttentionWeights:
    """Multi-head self-attention.

    Attributes:
        qkv: To queries, keys and values of all heads, [3 heads P, D].
        num_heads: Heads.
        q_norm: Norm of each query over P, or None.
        k_norm: Norm of each key over P, or None.
        proj: Back to the residual stream.
        scale: Factor of the scores before the softmax.
    """

    qkv: LinearWeights
    num_heads: int
    q_norm: NormWeights | None
    k_norm: NormWeights | None
    proj: LinearWeights
    scale: float


@dataclass(frozen=True)
class MlpWeights:
    """fc2(gate(fc1(x))).

    Attributes:
        fc1: To the hidden width.
        activation: An elementwise function without parameters.
        gated: None: gate(z) = activation(z). "first": activation(z[:h]) z[h:]. "last": z[:h] activation(z[h:]).
        fc2: Back to the residual stream.
    """

    fc1: LinearWeights
    activation: Callable[[Tensor], Tensor]
    gated: str | None
    fc2: LinearWeights


@dataclass(frozen=True)
class BlockWeights:
    """One block.

    Attributes:
        norm1: Before attention.
        attention: Attention.
        scale1: Factor [D] of what attention adds, or None for ones.
        norm2: Before the MLP.
        mlp: The MLP.
        scale2: Factor [D] of what the MLP adds, or None for ones.
    """

    norm1: NormWeights
    attention: AttentionWeights
    scale1: Tensor | None
    norm2: NormWeights
    mlp: MlpWeights
    scale2: Tensor | None
