"""An operator that counts what it is asked for, and can be made to fail."""

from __future__ import annotations

import torch
from torch import Tensor

from vitgeom.linop import DenseOperator


class CountingOperator(DenseOperator):
    """A dense operator with counters; from product ``poison`` on, everything is NaN."""

    def __init__(self, matrix: Tensor, *, poison: int | None = None) -> None:
        super().__init__(matrix)
        self.jvp = self.vjp = 0
        self._poison = poison

    def matmat(self, v_NK: Tensor) -> Tensor:
        self.jvp += v_NK.shape[1]
        return self._spoilt(super().matmat(v_NK))

    def rmatmat(self, u_MK: Tensor) -> Tensor:
        self.vjp += u_MK.shape[1]
        return self._spoilt(super().rmatmat(u_MK))

    def _spoilt(self, product: Tensor) -> Tensor:
        spoilt = self._poison is not None and self.jvp + self.vjp > self._poison
        return torch.full_like(product, torch.nan) if spoilt else product
