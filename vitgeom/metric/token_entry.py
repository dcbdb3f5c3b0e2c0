"""Tokens of a frozen backbone, made fit for a small net.   B = images, N = tokens, D = width, H = hidden width.

A few channels of a frozen transformer are a hundred times as large as the others, and the norm of a token says how much a LayerNorm further on will shrink what is done to it.
So each channel is standardised with figures of the training images, and the logarithm of each token's norm comes along as one more channel.
"""

from __future__ import annotations

from collections.abc import Iterable

import torch
from jaxtyping import Float
from torch import Tensor, nn

from vitgeom.errors import InvalidInput
from vitgeom.metric.patch_positions import NUM_WAVES, patch_positions

_LEAST_NORM = 1e-6
_LEAST_DEVIATION = 1e-3


class TokenEntry(nn.Module):
    """h_t = W [(f_t - mean) / deviation, standardised log ||f_t||] + b + e(prefix or patch) + P waves(place of the patch).

    Args:
        dim: D.
        hidden: H.
        num_prefix: CLS and register tokens at the start.

    Attributes:
        mean: Per channel, of the training tokens; 0 until fitted. The last entry is that of log ||f_t||.
        deviation: Likewise; 1 until fitted.
    """

    mean: Tensor
    deviation: Tensor

    def __init__(self, dim: int, *, hidden: int, num_prefix: int) -> None:
        super().__init__()
        self.dim, self.num_prefix = dim, num_prefix
        self.register_buffer("mean", torch.zeros(dim + 1))
        self.register_buffer("deviation", torch.ones(dim + 1))
        self.project = nn.Linear(dim + 1, hidden)
        self.kind = nn.Parameter(torch.zeros(2, hidden))
        self.place = nn.Linear(NUM_WAVES, hidden, bias=False)

    @torch.no_grad()
    def fit(self, batches: Iterable[Float[Tensor, "_ n d"]]) -> None:
        """Set mean and deviation from the tokens of the training images.

        Args:
            batches: Features, some images at a time.

        Raises:
            InvalidInput: Features of another width, or not finite.
        """
        count, total, squares = 0, torch.zeros(self.dim + 1, dtype=torch.float64), torch.zeros(self.dim + 1, dtype=torch.float64)  # fmt: skip
        for features in batches:
            self.check(features)
            x = self._channels(features).double().flatten(0, 1)
            count, total, squares = count + len(x), total + x.sum(dim=0), squares + x.square().sum(dim=0)
        mean = total / count
        deviation = (squares / count - mean.square()).clamp_min(0).sqrt()
        typical = deviation[: self.dim].mean()
        # A channel that hardly moves is divided by a share of what the others move by, not by next to nothing.
        least = torch.full_like(deviation, float(_LEAST_DEVIATION * typical)).clamp_min(_LEAST_NORM)
        least[self.dim] = _LEAST_DEVIATION
        self.mean.copy_(mean)
        self.deviation.copy_(torch.maximum(deviation, least))

    def forward(
        self, features_BND: Float[Tensor, "b n d"], *, grid: tuple[int, int] | None = None
    ) -> Float[Tensor, "b n h"]:
        """Return hidden tokens.

        Args:
            features_BND: Tokens, prefix tokens first.
            grid: Rows and columns of the patches; None for the one nearest to a square.

        Raises:
            InvalidInput: The grid has another number of patches.
        """
        x = (self._channels(features_BND) - self.mean) / self.deviation
        waves = patch_positions(features_BND.shape[1] - self.num_prefix, grid=grid).to(x)
        patches = self.kind[1] + self.place(waves)
        return self.project(x) + torch.cat([self.kind[:1].expand(self.num_prefix, -1), patches])

    def log_norms(self, features_BND: Float[Tensor, "b n d"]) -> Float[Tensor, "b n 1"]:
        """Return the standardised log ||f_t|| of each token.

        Args:
            features_BND: Tokens.
        """
        log_norm = self._channels(features_BND)[:, :, self.dim :]
        return (log_norm - self.mean[self.dim :]) / self.deviation[self.dim :]

    def check(self, features: Tensor) -> None:
        """Refuse what these weights say nothing about.

        Args:
            features: What the caller gave.

        Raises:
            InvalidInput: Not [B, N, D], another D, no patch token, or entries that are not finite.
        """
        if features.ndim != 3 or features.shape[2] != self.dim:
            raise InvalidInput(
                f"features must be [images, tokens, {self.dim}], got {list(features.shape)}. This model was made for tokens of width {self.dim}."
            )
        if features.shape[1] <= self.num_prefix:
            raise InvalidInput(
                f"features must have more than {self.num_prefix} tokens, the prefix tokens of this model, got {features.shape[1]}."
            )
        if not bool(features.isfinite().all()):
            bad = (~features.isfinite().flatten(1).all(dim=1)).nonzero()[:, 0].tolist()
            raise InvalidInput(
                f"features of images {bad} of the batch are not finite; leave these images out."
            )

    def _channels(self, features_BND: Tensor) -> Tensor:
        features_BND = features_BND.to(self.mean.dtype)
        log_norm = features_BND.norm(dim=2, keepdim=True).clamp_min(_LEAST_NORM).log()
        return torch.cat([features_BND, log_norm], dim=2)
