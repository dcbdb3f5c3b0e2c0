"""One learned vector per token position, for any patch grid.   N = tokens, P = prefix tokens, C = width."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor, nn

from vitgeom.metric.bottleneck.position_code import patch_places, position_code


class TokenPlaces(nn.Module):
    """Prefix tokens have vectors of their own; those of patches are their position code plus a learned map of it.

    Args:
        width: C, a multiple of 4.
        num_prefix: P.
    """

    def __init__(self, width: int, *, num_prefix: int) -> None:
        super().__init__()
        self.prefix = nn.Parameter(torch.randn(num_prefix, width))
        self.map = nn.Sequential(nn.Linear(width, width), nn.GELU(), nn.Linear(width, width))

    def forward(self, grid: tuple[int, int]) -> Float[Tensor, "n c"]:
        """Return the vectors in the order of the tokens.

        Args:
            grid: (rows, columns) of patches.
        """
        weight = self.prefix
        code = position_code(
            patch_places(grid, dtype=weight.dtype, device=weight.device), length=weight.shape[1]
        )
        return torch.cat([weight, code + self.map(code)])
