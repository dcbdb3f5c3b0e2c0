"""A change of coordinates among all latents: the first are principal components of the whole picture, the rest what is left of the old ones.

An orthogonal map of M' latents that takes K directions U to coordinate axes, as a product of K reflections in compact form (R. Schreiber and
C. Van Loan 1989): Q = I - V T V^T with V, T from the QR of U. It takes M' K numbers instead of M'^2.
B = images, R = registers, Z = latents of one, M' = R Z, K = principal directions.
"""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor, nn


class RegisterRotation(nn.Module):
    """Latents c -> Q^T c and back; the identity until it is fitted. Axis k lies in register k mod R: all registers carry alike.

    Args:
        registers: R.
        latent: Z.
        principal: K, at most R Z.
    """

    reflectors: Tensor
    mixing: Tensor

    def __init__(self, registers: int, latent: int, *, principal: int) -> None:
        super().__init__()
        self._sizes = (latent, registers)
        self.register_buffer("reflectors", torch.zeros(registers * latent, principal))
        self.register_buffer("mixing", torch.zeros(principal, principal))

    @torch.no_grad()
    def fit(self, directions: Float[Tensor, "m k"]) -> None:
        """Set the map.

        Args:
            directions: U in the order of :meth:`flat`, orthonormal columns, strongest first; K at most.
        """
        count = directions.shape[1]
        packed, scales = torch.geqrf(directions.double())
        v_MK = packed.tril(-1)
        v_MK.diagonal().fill_(1.0)
        above = (v_MK.mT @ v_MK).triu(1)
        # T^-1 = diag(1 / scales) + above, written so that a scale of 0 (no reflection) is no division.
        unit = torch.eye(count, dtype=torch.float64, device=directions.device)
        t_KK = torch.linalg.solve(unit + scales[:, None] * above, torch.diag(scales))
        self.reflectors.zero_()
        self.mixing.zero_()
        self.reflectors[:, :count] = v_MK
        self.mixing[:count, :count] = t_KK

    def forward(self, c: Float[Tensor, "b r z"]) -> Float[Tensor, "b r z"]:
        """Return the rotated latents.

        Args:
            c: In the old coordinates.
        """
        flat = self.flat(c)
        return self._shaped(flat - ((flat @ self.reflectors) @ self.mixing) @ self.reflectors.mT)

    def back(self, z: Float[Tensor, "b r z"]) -> Float[Tensor, "b r z"]:
        """Return the inverse of the rotation.

        Args:
            z: In the new coordinates.
        """
        flat = self.flat(z)
        return self._shaped(flat - ((flat @ self.reflectors) @ self.mixing.mT) @ self.reflectors.mT)

    def flat(self, c: Float[Tensor, "b r z"]) -> Float[Tensor, "b m"]:
        """Return latents as rows, registers changing fastest.

        Args:
            c: Latents.
        """
        return c.mT.flatten(1)

    def _shaped(self, flat: Tensor) -> Tensor:
        return flat.unflatten(1, self._sizes).mT
