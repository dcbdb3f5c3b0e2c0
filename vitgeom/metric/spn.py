"""Spectral pullback network: from features alone to the metric that a decoder puts on them (B8 of the methods).

B = images, N = tokens, D = width, H = hidden width, r = rank.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.functional import softplus

from vitgeom.errors import InvalidInput
from vitgeom.metric.attention_block import AttentionBlock, check_heads
from vitgeom.metric.energy_scale import EnergyScale
from vitgeom.metric.pullback_metric import PullbackMetric
from vitgeom.metric.safe_qr import orthonormal_columns
from vitgeom.metric.seeded import seeded
from vitgeom.metric.token_entry import TokenEntry
from vitgeom.whole_numbers import whole_number

_ENERGY_WIDTH = 64
_UNIT = 0.5413248546129181  # softplus(_UNIT) = 1


class SpectralPullbackNetwork(nn.Module):
    """U = Q of the QR of a per-token projection [N D, r]; lambda = softplus of what a pooled token says, around the training images' energies.

    Args:
        dim: D.
        rank: r.
        hidden: H.
        heads: Of attention.
        blocks: Attention blocks.
        num_prefix: CLS and register tokens at the start.
        seed: Draws the weights.

    Raises:
        InvalidInput: A number is below 1, or ``heads`` does not divide ``hidden``.
    """

    def __init__(
        self,
        dim: int,
        rank: int,
        hidden: int = 256,
        heads: int = 4,
        blocks: int = 2,
        *,
        num_prefix: int = 1,
        seed: int = 0,
    ) -> None:
        super().__init__()
        numbers = {"dim": dim, "rank": rank, "hidden": hidden, "heads": heads, "blocks": blocks}
        self.config: dict[str, Any] = {
            name: whole_number(name, value, at_least=1) for name, value in numbers.items()
        }
        self.config["num_prefix"] = whole_number("num_prefix", num_prefix, at_least=0)
        check_heads(hidden, heads)
        self.dim, self.rank, self.num_prefix = int(dim), int(rank), int(num_prefix)
        with seeded(seed, "SpectralPullbackNetwork"):
            self.entry = TokenEntry(dim, hidden=hidden, num_prefix=num_prefix)
            self.blocks = nn.ModuleList(AttentionBlock(hidden, heads=heads) for _ in range(blocks))
            self.norm = nn.LayerNorm(hidden)
            self.directions = nn.Linear(hidden, dim * rank)
            self.loudness = nn.Linear(hidden, 1)
            last = nn.Linear(_ENERGY_WIDTH, rank + 1)
            self.energies = nn.Sequential(nn.Linear(2 * hidden + 2, _ENERGY_WIDTH), nn.GELU(), last)
        self.scale = EnergyScale(rank)
        for at_rest in (self.loudness, last):
            nn.init.zeros_(at_rest.weight)
            nn.init.zeros_(at_rest.bias)

    def fit_features(self, batches: Iterable[Float[Tensor, "_ n d"]]) -> None:
        """Fit means and deviations of the channels.

        Args:
            batches: Features of the training images, some at a time.
        """
        self.entry.fit(batches)

    def forward(
        self, features: Float[Tensor, "b n d"], *, grid: tuple[int, int] | None = None
    ) -> PullbackMetric:
        """Return the metric at each image; no decoder is run, and nothing is differentiated.

        Args:
            features: Tokens of the layer it was trained on, prefix tokens first; any number of them.
            grid: Rows and columns of the patches; None for the one nearest to a square.

        Raises:
            InvalidInput: Another width, entries that are not finite, or fewer coordinates N D than directions, or a grid of other patches.
        """
        self.entry.check(features)
        images, tokens, dim = features.shape
        if self.rank > tokens * dim:
            raise InvalidInput(
                f"rank must be at most N D = {tokens * dim}, got {self.rank}: {tokens} tokens of width {dim} have no more directions."
            )
        h_BNH = self.entry(features, grid=grid)
        for block in self.blocks:
            h_BNH = block(h_BNH)
        h_BNH = self.norm(h_BNH)
        x_BNP = self.directions(h_BNH) * self.loudness(h_BNH).exp()
        u_BPR = orthonormal_columns(x_BNP.reshape(images, tokens * dim, self.rank))
        return PullbackMetric(
            u_BPR.reshape(images, tokens, dim, self.rank),
            self._energies(torch.cat([h_BNH, self.entry.log_norms(features)], dim=2)),
            eps=float(self.scale.eps),
        )

    def _energies(self, h_BNH: Tensor) -> Tensor:
        """Return energies from what prefix tokens and patches say on average.

        One output moves all modes together: where degenerate modes have no energies to learn from, they follow the others.
        """
        prefix, patches = h_BNH[:, : self.num_prefix], h_BNH[:, self.num_prefix :]
        pooled_BH = torch.cat([prefix.sum(dim=1) / max(1, self.num_prefix), patches.mean(dim=1)], dim=1)
        raw_BR = self.energies(pooled_BH).float()
        return self.scale(softplus(raw_BR[:, 1:] + raw_BR[:, :1] + _UNIT))
