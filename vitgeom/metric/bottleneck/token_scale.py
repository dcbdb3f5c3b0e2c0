"""Means and deviations that tokens are standardised with.   B = images, N = tokens, P = prefix tokens, W = width."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor, nn


class TokenScale(nn.Module):
    """x -> (x - mean) / deviation, channel by channel: patches share their numbers, each prefix token has its own.

    Whatever the patch grid, the numbers fit. They are buffers: fitted once, never trained.

    Args:
        width: W.
        num_prefix: P.
    """

    mean: Tensor
    deviation: Tensor

    def __init__(self, width: int, *, num_prefix: int) -> None:
        super().__init__()
        self.num_prefix = num_prefix
        self.register_buffer("mean", torch.zeros(num_prefix + 1, width))
        self.register_buffer("deviation", torch.ones(num_prefix + 1, width))

    def fit(self, mean_NW: Float[Tensor, "n w"], variance_NW: Float[Tensor, "n w"]) -> None:
        """Set the buffers from moments per token position; a channel that never changes is left unscaled.

        Args:
            mean_NW: Over images.
            variance_NW: Over images, about that mean.
        """
        split = self.num_prefix
        mean_W = mean_NW[split:].mean(0)
        spread_W = (variance_NW[split:] + (mean_NW[split:] - mean_W).square()).mean(0)
        variance = torch.cat([variance_NW[:split], spread_W[None]])
        self.mean.copy_(torch.cat([mean_NW[:split], mean_W[None]]))
        self.deviation.copy_(torch.where(variance > 0, variance, 1.0).sqrt())

    def standardised(self, tokens: Float[Tensor, "b n w"]) -> Float[Tensor, "b n w"]:
        """Return tokens of unit variance.

        Args:
            tokens: As the model gives them.
        """
        count = tokens.shape[1]
        return (tokens - self._rows(self.mean, count)) / self._rows(self.deviation, count)

    def restored(self, tokens: Float[Tensor, "b n w"]) -> Float[Tensor, "b n w"]:
        """Return the inverse of :meth:`standardised`.

        Args:
            tokens: Of unit variance.
        """
        count = tokens.shape[1]
        return tokens * self._rows(self.deviation, count) + self._rows(self.mean, count)

    def deviations(self, count: int) -> Float[Tensor, "n w"]:
        """Return the deviation of every number of an image.

        Args:
            count: N.
        """
        return self._rows(self.deviation, count)

    def _rows(self, table: Tensor, count: int) -> Tensor:
        patches = table[self.num_prefix :].expand(count - self.num_prefix, -1)
        return torch.cat([table[: self.num_prefix], patches])
