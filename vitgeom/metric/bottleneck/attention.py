"""Attention written out, so that it has derivatives in both directions.   B = images, Q = queries, K = keys, C = width, h = heads.

Fused kernels have no forward derivative; products and a softmax have every one, also under vmap.
"""

from __future__ import annotations

from jaxtyping import Float
from torch import Tensor, nn


class Attention(nn.Module):
    """Multi-head attention of queries to a memory: softmax(q k^T / sqrt(C / h)) v per head, and a linear map of all heads.

    Args:
        width: C; a multiple of the heads.
        heads: h.
    """

    def __init__(self, width: int, *, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width, bias=False)  # it would add one number to all scores of a query
        self.value = nn.Linear(width, width)
        self.out = nn.Linear(width, width)

    def forward(self, queries: Float[Tensor, "b q c"], memory: Float[Tensor, "b k c"]) -> Tensor:
        """Return what each query gathers, [B, Q, C].

        Args:
            queries: Who asks.
            memory: Who is asked.
        """
        q_BhQd = self._split(self.query(queries))
        k_BhKd, v_BhKd = self._split(self.key(memory)), self._split(self.value(memory))
        scores = (q_BhQd * q_BhQd.shape[-1] ** -0.5) @ k_BhKd.mT
        return self.out((scores.softmax(dim=-1) @ v_BhKd).transpose(1, 2).flatten(2))

    def _split(self, x: Tensor) -> Tensor:
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)


class Perceptron(nn.Sequential):
    """Norm, linear map to twice the width, GELU, linear map back.

    Args:
        width: C.
    """

    def __init__(self, width: int) -> None:
        super().__init__(
            nn.LayerNorm(width), nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width)
        )


class SelfBlock(nn.Module):
    """Pre-norm self-attention and perceptron, each added to its input.

    Args:
        width: C.
        heads: h.
    """

    def __init__(self, width: int, *, heads: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.attention = Attention(width, heads=heads)
        self.perceptron = Perceptron(width)

    def forward(self, x: Float[Tensor, "b q c"]) -> Tensor:
        """Return vectors that have looked at each other.

        Args:
            x: Of any number.
        """
        normed = self.norm(x)
        x = x + self.attention(normed, normed)
        return x + self.perceptron(x)


class CrossBlock(nn.Module):
    """Pre-norm attention to a memory and perceptron, each added to the queries.

    Args:
        width: C.
        heads: h.
    """

    def __init__(self, width: int, *, heads: int) -> None:
        super().__init__()
        self.norm, self.memory_norm = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = Attention(width, heads=heads)
        self.perceptron = Perceptron(width)

    def forward(self, queries: Float[Tensor, "b q c"], memory: Float[Tensor, "b k c"]) -> Tensor:
        """Return queries that have looked at the memory.

        Args:
            queries: Who asks.
            memory: Who is asked.
        """
        queries = queries + self.attention(self.norm(queries), self.memory_norm(memory))
        return queries + self.perceptron(queries)
