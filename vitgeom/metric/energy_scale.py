"""The typical energy of each mode, which a net only has to correct.   B, n = images, R = directions of the targets, r = rank."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor, nn

_LEAST = 1e-30


class EnergyScale(nn.Module):
    """lambda_j = exp(mean log energy of mode j) * correction_j, sorted.

    Energies of a decoder span decades between modes and between decoders, much less between images.

    Args:
        rank: r.

    Attributes:
        log_energy: Mean of log sigma_j^2 over training images that have mode j; 0 until fitted. Modes that no image has get the last one's.
        eps: Mean energy of a direction outside of the r; 0 where it is not known.
    """

    log_energy: Tensor
    eps: Tensor

    def __init__(self, rank: int) -> None:
        super().__init__()
        self.register_buffer("log_energy", torch.zeros(rank))
        self.register_buffer("eps", torch.zeros(()))

    @torch.no_grad()
    def fit(self, log_energies: Float[Tensor, "n R"], *, outside: Float[Tensor, " n"] | None = None) -> None:
        """Set the scale from the training images.

        Args:
            log_energies: log sigma_j^2; NaN for modes that do not exist.
            outside: Mean energy of the directions beyond the r, where it is known.
        """
        self.eps.fill_(0.0 if outside is None else float(outside.mean()))
        rank, last = len(self.log_energy), 0.0
        for mode in range(rank):
            column = log_energies[:, mode] if mode < log_energies.shape[1] else log_energies[:, :0].flatten()
            column = column[column.isfinite()]
            last = float(column.mean()) if len(column) else last
            self.log_energy[mode] = last

    def forward(self, corrections_BR: Float[Tensor, "b r"]) -> Float[Tensor, "b r"]:
        """Return energies > 0, descending.

        Args:
            corrections_BR: Factors > 0.
        """
        energies = (self.log_energy + corrections_BR.log()).exp().clamp_min(_LEAST)
        return energies.sort(dim=1, descending=True).values
