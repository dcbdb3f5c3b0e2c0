"""Where in the token grid the directions live (B3 and B4 of the methods).   N = tokens, D = width, R = directions."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import torch
from jaxtyping import Float, Float64
from torch import Tensor

from vitgeom.randnla.row_block_norms import block_energy


@dataclass(frozen=True)
class TokenSpread:
    """Coefficient of variation over tokens, std / mean; None where the mean is 0 or there is no token.

    Attributes:
        all_tokens: Over all of them.
        patches: Without the prefix tokens, whose residual path can hold most of the energy.
    """

    all_tokens: float | None
    patches: float | None

    def to_json(self) -> dict[str, float | None]:
        """Return both by name."""
        return asdict(self)


def token_energy(right_NR: Float[Tensor, "nd r"], num_tokens: int) -> Float64[Tensor, " n"]:
    """Return e_t = sum_j ||v_j^(t)||^2 of every token; they sum to R.

    Args:
        right_NR: Orthonormal right vectors, N D rows.
        num_tokens: N.
    """
    return block_energy(right_NR, num_tokens).sum(dim=1)


def importance(
    right_NR: Float[Tensor, "nd r"], sigma_R: Float64[Tensor, " r"], num_tokens: int
) -> Float64[Tensor, " n"]:
    """Return imp*_t = sqrt(sum_j sigma_j^2 ||v_j^(t)||^2); for R = rank J it is the block norm ||J^(t)||_F.

    Args:
        right_NR: Orthonormal right vectors, N D rows.
        sigma_R: Their singular values.
        num_tokens: N.
    """
    return (block_energy(right_NR, num_tokens) @ sigma_R**2).sqrt()


def token_spread(energy_N: Float64[Tensor, " n"], *, num_prefix: int) -> TokenSpread:
    """Return the coefficient of variation with and without prefix tokens.

    Args:
        energy_N: One number >= 0 per token.
        num_prefix: Tokens at the start that are no patches.
    """
    return TokenSpread(_variation(energy_N), _variation(energy_N[num_prefix:]))


def _variation(energy: Tensor) -> float | None:
    mean = float(energy.mean()) if len(energy) else 0.0
    return float(torch.std(energy, correction=0)) / mean if mean > 0 else None
