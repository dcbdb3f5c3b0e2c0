"""One pre-norm transformer block: attention across tokens, then an MLP on each.   B = images, N = tokens, H = hidden width."""

from __future__ import annotations

from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention

from vitgeom.errors import InvalidInput


class AttentionBlock(nn.Module):
    """h <- h + Attention(norm h); h <- h + MLP(norm h).

    Args:
        hidden: H.
        heads: Divides H.
        mlp_ratio: Hidden width of the MLP over H; 0 for attention alone.

    Raises:
        InvalidInput: ``heads`` does not divide ``hidden``.
    """

    def __init__(self, hidden: int, *, heads: int, mlp_ratio: float = 2.0) -> None:
        super().__init__()
        check_heads(hidden, heads)
        self.heads = heads
        self.norm = nn.LayerNorm(hidden)
        self.mix = nn.Linear(hidden, 3 * hidden)
        self.out = nn.Linear(hidden, hidden)
        inner = round(mlp_ratio * hidden)
        self.mlp = None
        if inner:
            self.mlp = nn.Sequential(nn.LayerNorm(hidden), nn.Linear(hidden, inner), nn.GELU(), nn.Linear(inner, hidden))  # fmt: skip

    def forward(self, h_BNH: Float[Tensor, "b n h"]) -> Float[Tensor, "b n h"]:
        """Return the tokens after the block.

        Args:
            h_BNH: Any number of tokens.
        """
        h_BNH = h_BNH + self.out(self._attended(self.norm(h_BNH)))
        return h_BNH if self.mlp is None else h_BNH + self.mlp(h_BNH)

    def attended(
        self, h_BNH: Float[Tensor, "b n h"]
    ) -> tuple[Float[Tensor, "b n h"], Float[Tensor, "b k n n"]]:
        """Return h + Attention(norm h), and who looked at whom: weights by head, query and key. Memory O(N^2) for each head.

        Args:
            h_BNH: Any number of tokens.
        """
        query, key, value = self._parts(self.norm(h_BNH))
        weights_BKNN = (query @ key.mT * query.shape[-1] ** -0.5).softmax(dim=-1)
        mixed_BNH = (weights_BKNN @ value).transpose(1, 2).flatten(2)
        return h_BNH + self.out(mixed_BNH), weights_BKNN

    def _attended(self, x_BNH: Tensor) -> Tensor:
        query, key, value = self._parts(x_BNH)
        return scaled_dot_product_attention(query, key, value).transpose(1, 2).flatten(2)

    def _parts(self, x_BNH: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        query, key, value = self.mix(x_BNH).unflatten(2, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        return query, key, value


def check_heads(hidden: int, heads: int) -> None:
    """Refuse heads that cannot share the hidden width.

    Args:
        hidden: H.
        heads: Of attention.

    Raises:
        InvalidInput: ``heads`` does not divide ``hidden``.
    """
    if hidden % heads:
        raise InvalidInput(
            f"heads must divide hidden, got heads={heads}, hidden={hidden}. Give hidden={hidden // heads * heads or heads} or another number of heads."
        )
