"""A metric of low rank on feature maps: what a task makes of a change of the features.

    v^T g v = sum_j lambda_j (u_j^T v)^2 + eps ||v||^2

applied in O(N D r); a matrix of (N D)^2 entries is never formed.

B = images, N = tokens, D = width, r = directions, K = vectors per image.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from vitgeom.errors import InvalidInput


@dataclass(frozen=True, eq=False)
class PullbackMetric:
    """One metric per image.

    Attributes:
        directions: u_j, orthonormal over tokens and width; strongest first.
        energies: lambda_j >= 0, descending.
        eps: Weight of the plain norm, >= 0: what directions outside of the r count.
    """

    directions: Float[Tensor, "B N D r"]
    energies: Float[Tensor, "B r"]
    eps: float = 0.0

    @property
    def rank(self) -> int:
        """R."""
        return self.energies.shape[1]

    @property
    def columns(self) -> Float[Tensor, "B ND r"]:
        """Directions as columns over tokens and width, token by token."""
        return self.directions.flatten(1, 2)

    def coordinates(self, v: Float[Tensor, ...]) -> Float[Tensor, ...]:
        """Return u_j^T v, [B, r] or [B, K, r].

        Args:
            v: Changes of features, [B, N, D], or several per image, [B, K, N, D].

        Raises:
            InvalidInput: Another shape.
        """
        v_BKP, single = self._flat(v)
        c_BKR = v_BKP @ self.columns.to(v)
        return c_BKR[:, 0] if single else c_BKR

    def apply(self, v: Float[Tensor, ...]) -> Float[Tensor, ...]:
        """Return g v, in the shape of v.

        Args:
            v: Changes of features, [B, N, D] or [B, K, N, D].

        Raises:
            InvalidInput: Another shape.
        """
        v_BKP, _ = self._flat(v)
        u_BPR = self.columns.to(v)
        weighed_BKR = (v_BKP @ u_BPR) * self.energies[:, None, :].to(v)
        return torch.baddbmm(v_BKP, weighed_BKR, u_BPR.mT, beta=self.eps).reshape(v.shape)

    def quadratic(self, v: Float[Tensor, ...]) -> Float[Tensor, ...]:
        """Return v^T g v, [B] or [B, K]: the squared change of the output, to first order.

        Args:
            v: Changes of features, [B, N, D] or [B, K, N, D].

        Raises:
            InvalidInput: Another shape.
        """
        v_BKP, single = self._flat(v)
        c_BKR = v_BKP @ self.columns.to(v)
        q_BK = (c_BKR.square() * self.energies[:, None, :].to(v)).sum(dim=2)
        if self.eps:
            q_BK = q_BK + self.eps * torch.linalg.vector_norm(v_BKP, dim=2).square()
        return q_BK[:, 0] if single else q_BK

    def distance(self, a: Float[Tensor, ...], b: Float[Tensor, ...]) -> Float[Tensor, ...]:
        """Return sqrt((a - b)^T g (a - b)), [B] or [B, K]: how far apart two feature maps are for the task, as seen from this image.

        Args:
            a: Feature maps, [B, N, D] or [B, K, N, D].
            b: Likewise.

        Raises:
            InvalidInput: Another shape.
        """
        return self.quadratic(a - b).sqrt()

    def token_importance(self) -> Float[Tensor, "B N"]:
        """Return sqrt(sum_j lambda_j ||u_j^(t)||^2), the importance of each token (B4 of the methods) under this metric."""
        block_BNR = self.directions.square().sum(dim=2)
        return torch.einsum("bnr,br->bn", block_BNR, self.energies.to(block_BNR)).sqrt()

    def _flat(self, v: Tensor) -> tuple[Tensor, bool]:
        images, tokens, width = self.directions.shape[:3]
        single = v.ndim == 3
        if v.ndim not in (3, 4) or v.shape[0] != images or v.shape[-2:] != (tokens, width):
            raise InvalidInput(
                f"v must be [{images}, {tokens}, {width}] or [{images}, K, {tokens}, {width}], got {list(v.shape)}. Give one change of the features per image."
            )
        return (v[:, None] if single else v).flatten(2, 3), single
