"""Importance head: from features alone to how much a decoder depends on each token (B9 of the methods).   B = images, N = tokens, D = width.

About 310,000 parameters at D = 768. A token matters as far as others look at it, so its score is read from what the attention block made of it and from how much attention it
received there: no mixture of values tells a token that.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.functional import softplus

from vitgeom.metric.attention_block import AttentionBlock, check_heads
from vitgeom.metric.seeded import seeded
from vitgeom.metric.token_entry import TokenEntry
from vitgeom.whole_numbers import whole_number

_UNIT = 0.5413248546129181  # softplus(_UNIT) = 1
_LEAST, _LEAST_SHARE = 1e-30, 1e-6


class ImportanceHead(nn.Module):
    """imp_t = exp(typical log importance of its kind of token) * softplus(MLP(norm h_t, log N a_t)), h = attention(entry(F)).

    a_t is the attention that token t receives, for each head, from the prefix tokens and from all tokens on average.

    Args:
        dim: D.
        hidden: Width between entry and MLP.
        heads: Of attention.
        inner: Width of the MLP per token.
        num_prefix: CLS and register tokens at the start.
        seed: Draws the weights.

    Attributes:
        log_importance: Typical log importance of prefix tokens and of patches; 0 until fitted.

    Raises:
        InvalidInput: A number is below 1, or ``heads`` does not divide ``hidden``.
    """

    log_importance: Tensor

    def __init__(
        self,
        dim: int,
        hidden: int = 192,
        heads: int = 4,
        inner: int = 64,
        *,
        num_prefix: int = 1,
        seed: int = 0,
    ) -> None:
        super().__init__()
        numbers = {"dim": dim, "hidden": hidden, "heads": heads, "inner": inner}
        self.config: dict[str, Any] = {
            name: whole_number(name, value, at_least=1) for name, value in numbers.items()
        }
        self.config["num_prefix"] = whole_number("num_prefix", num_prefix, at_least=0)
        check_heads(hidden, heads)
        self.num_prefix = int(num_prefix)
        with seeded(seed, "ImportanceHead"):
            self.entry = TokenEntry(dim, hidden=hidden, num_prefix=num_prefix)
            self.block = AttentionBlock(hidden, heads=heads, mlp_ratio=0.0)
            self.norm = nn.LayerNorm(hidden)
            received = heads * (2 if num_prefix else 1)
            self.read = nn.Sequential(nn.Linear(hidden + received, inner), nn.GELU(), nn.Linear(inner, 1))
        self.register_buffer("log_importance", torch.zeros(2))

    def fit_features(self, batches: Iterable[Float[Tensor, "_ n d"]]) -> None:
        """Fit means and deviations of the channels.

        Args:
            batches: Features of the training images, some at a time.
        """
        self.entry.fit(batches)

    @torch.no_grad()
    def fit_importance(self, importance_BN: Float[Tensor, "b n"]) -> None:
        """Fit the typical log importance of prefix tokens and of patches; zeros are left out.

        Args:
            importance_BN: Of the training images.
        """
        for kind, part in enumerate((importance_BN[:, : self.num_prefix], importance_BN[:, self.num_prefix :])):  # fmt: skip
            logs = part[part > 0].log()
            self.log_importance[kind] = logs.mean() if len(logs) else 0.0

    def forward(
        self, features: Float[Tensor, "b n d"], *, grid: tuple[int, int] | None = None
    ) -> Float[Tensor, "b n"]:
        """Return the importance of every token, > 0.

        Args:
            features: Tokens of the layer it was trained on, prefix tokens first; any number of them.
            grid: Rows and columns of the patches; None for the one nearest to a square.

        Raises:
            InvalidInput: Another width, no patch, entries that are not finite, or a grid of other patches.
        """
        self.entry.check(features)
        h_BNH, weights_BKNN = self.block.attended(self.entry(features, grid=grid))
        known = torch.cat([self.norm(h_BNH), self._received(weights_BKNN)], dim=2)
        raw_BN = self.read(known)[:, :, 0].float()
        typical_N = self.log_importance[1].expand(features.shape[1]).clone()
        typical_N[: self.num_prefix] = self.log_importance[0]
        return (typical_N + softplus(raw_BN + _UNIT).clamp_min(_LEAST).log()).exp()

    def _received(self, weights_BKNN: Tensor) -> Tensor:
        """Return log(N a_t) by token, 0 where attention is even: of the prefix tokens, where there are any, then of all."""
        lookers = [weights_BKNN[:, :, : self.num_prefix], weights_BKNN] if self.num_prefix else [weights_BKNN]
        shares_BAN = torch.cat([each.mean(dim=2) for each in lookers], dim=1)
        return (shares_BAN * weights_BKNN.shape[-1]).clamp_min(_LEAST_SHARE).log().mT
