"""A random number with its standard error and its cost.   K = samples."""

from __future__ import annotations

import math
from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor

from vitgeom.randnla.products import Products


@dataclass(frozen=True)
class Estimate:
    """A value, how far it may be off, and what it cost.

    Attributes:
        value: The estimate.
        stderr: One standard error; 0 where the value is exact.
        products: Spent on it.
    """

    value: float
    stderr: float
    products: Products

    @classmethod
    def from_samples(
        cls, samples_K: Float[Tensor, " k"], *, products: Products, offset: float = 0.0
    ) -> Estimate:
        """Return offset + mean with the standard error sqrt(var / K) of K >= 2 independent samples.

        Args:
            samples_K: Independent and unbiased.
            products: Spent on all of them.
            offset: A part that is known exactly.
        """
        wide = samples_K.double()
        return cls(
            offset + float(wide.mean()),
            math.sqrt(float(wide.var(unbiased=True)) / len(wide)),
            products,
        )
