"""Spectra of J^T J that tests and benchmarks plant, and an operator that has one.   n = order."""

from __future__ import annotations

import torch
from torch import Tensor

from vitgeom.linop.operand import check_operand


def planted_spectra(order: int) -> dict[str, Tensor]:
    """Return eigenvalues sigma^2 [order] by name, descending: four power laws, two exponentials, a step, spikes over a floor, flat."""
    j = torch.arange(1, order + 1, dtype=torch.float64)
    return {
        "j^-0.5": j**-0.5,
        "j^-1": j**-1.0,
        "j^-1.5": j**-1.5,
        "j^-2": j**-2.0,
        "exp(-j/10)": torch.exp(-j / 10),
        "exp(-j/60)": torch.exp(-j / 60),
        "step": torch.where(j <= order // 8, 1.0, 0.0025).double(),
        "spikes": torch.where(j <= 20, 1.0, 0.0025).double(),
        "flat": torch.ones_like(j),
    }


class PlantedOperator:
    """A diagonal operator, as good as one with uniform singular vectors for methods whose random vectors favour no basis (gaussian, sphere)."""

    def __init__(self, squared: Tensor) -> None:
        self.sigma = squared.sqrt()

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.sigma), len(self.sigma)

    @property
    def dtype(self) -> torch.dtype:
        return self.sigma.dtype

    @property
    def device(self) -> torch.device:
        return self.sigma.device

    def matmat(self, v_NK: Tensor) -> Tensor:
        check_operand(v_NK, name="v_NK", length=len(self.sigma), dtype=self.dtype, device=self.device)
        return self.sigma[:, None] * v_NK

    def rmatmat(self, u_MK: Tensor) -> Tensor:
        return self.matmat(u_MK)
