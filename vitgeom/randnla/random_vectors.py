"""Random probe vectors z with E[z z^T] = I.   N = length, K = vectors.

All three give unbiased quadratic forms. Variances of z^T A z for symmetric A: ``signs`` 2 (||A||_F^2 - sum A_ii^2), ``gaussian`` 2 ||A||_F^2,
``sphere`` about 2 (||A||_F^2 - tr(A)^2 / N): none at all for a multiple of the identity, and the same in every basis.
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import torch
from jaxtyping import Float64
from torch import Generator, Tensor

from vitgeom.seeding import check_generator


@runtime_checkable
class Draw(Protocol):
    """A distribution of probe vectors."""

    def __call__(self, length: int, count: int, *, generator: Generator) -> Tensor:
        """Return [length, count] float64 on the CPU."""
        ...


def signs(length: int, count: int, *, generator: Generator) -> Float64[Tensor, "n k"]:
    """Return independent entries -1 and 1.

    Args:
        length: N.
        count: K.
        generator: The only source of randomness.

    Raises:
        InvalidInput: There is no generator.
    """
    check_generator(generator)
    return torch.randint(2, (length, count), generator=generator).double() * 2 - 1


def gaussian(length: int, count: int, *, generator: Generator) -> Float64[Tensor, "n k"]:
    """Return independent standard normal entries.

    Args:
        length: N.
        count: K.
        generator: The only source of randomness.

    Raises:
        InvalidInput: There is no generator.
    """
    check_generator(generator)
    return torch.randn(length, count, generator=generator, dtype=torch.float64)


def sphere(length: int, count: int, *, generator: Generator) -> Float64[Tensor, "n k"]:
    """Return vectors uniformly distributed on the sphere of radius sqrt(N).

    Args:
        length: N.
        count: K.
        generator: The only source of randomness.

    Raises:
        InvalidInput: There is no generator.
    """
    drawn = gaussian(length, count, generator=generator)
    return drawn * (length**0.5 / drawn.norm(dim=0).clamp_min(torch.finfo(torch.float64).tiny))
