"""The recipe to compare with: Hutchinson for the norm, power iteration for the directions, Lanczos quadrature for the density."""

from __future__ import annotations

import torch
from torch import Generator, Tensor

from vitgeom.bootstrap import Interval
from vitgeom.errors import InvalidInput
from vitgeom.linop import LinearOperator
from vitgeom.randnla.checked_product import vjp
from vitgeom.randnla.intervals import positive_mean_interval
from vitgeom.randnla.power_iteration import power_iteration
from vitgeom.randnla.products import Products
from vitgeom.randnla.random_vectors import signs
from vitgeom.randnla.row_block_norms import BlockNorms, block_energy
from vitgeom.randnla.slq import spectral_density
from vitgeom.randnla.spectral_density import SpectralDensity
from vitgeom.spectra.sketch import Sketch

POWER_STEPS = 2
PROBES = 100
LANCZOS_STEPS = 10
FEWEST_PROBES = 8


def least_reference_budget(rank: int) -> int:
    """Return the products of the power iteration and of the fewest probes.

    Args:
        rank: r.
    """
    return rank * (2 * POWER_STEPS + 1) + FEWEST_PROBES


def reference_sketch(
    operator: LinearOperator, *, rank: int, budget: int, num_tokens: int, generator: Generator
) -> Sketch:
    """Spend rank (2 q + 1) products on power iteration, up to 100 on probes, and what is left on Lanczos runs of 10 steps.

    At rank 20 that is 200 products without a density and 280 with four Lanczos runs.

    The norm is a plain Hutchinson estimate and may fall below the energy of the directions, which it cannot truly be below; it is then raised to it.

    Args:
        operator: J [M, N].
        rank: Directions wanted.
        budget: Single products, never exceeded.
        num_tokens: T.
        generator: The only source of randomness.

    Raises:
        InvalidInput: The budget is too small for the rank.
        NumericalFailure: A product is not finite.
    """
    if budget < least_reference_budget(rank):
        raise InvalidInput(
            f"budget must be >= {least_reference_budget(rank)} products for rank {rank} with recipe='reference', got {budget}. "
            "Raise budget or lower rank."
        )
    power = power_iteration(operator, rank=rank, steps=POWER_STEPS, generator=generator)
    count = min(PROBES, budget - power.products.total)
    images = vjp(operator, signs(operator.shape[0], count, generator=generator))
    energy = block_energy(images, num_tokens)
    spent = power.products + Products(vjp=count)
    density, lanczos = _density(operator, budget - spent.total, generator=generator)
    squared = power.lengths**2
    floor = max(operator.shape) ** 0.5 * torch.finfo(images.dtype).eps * float(power.lengths[0])
    kept = int((power.lengths > floor).sum())
    samples = energy.sum(dim=0)
    stderr_T = (energy.var(dim=1, unbiased=True) / count).sqrt()
    return Sketch(
        recipe="reference",
        shape=operator.shape,
        right_NR=power.right_NR[:, :kept],
        sigma_R=power.lengths[:kept],
        leading=squared[:kept],
        converged=0,
        lost=0.0,
        norm=_at_least(positive_mean_interval(samples), float(squared.sum())),
        stderr=float((samples.var(unbiased=True) / count).sqrt()),
        norms=BlockNorms(energy.mean(dim=1), stderr_T, Products(vjp=count)),
        density=density,
        square=_mean_square_product(images),
        residuals_R=None,
        products=spent + lanczos,
    )


def _density(
    operator: LinearOperator, left_over: int, *, generator: Generator
) -> tuple[SpectralDensity | None, Products]:
    runs = left_over // (2 * LANCZOS_STEPS)
    if runs < 1:
        return None, Products()
    density = spectral_density(operator, num_probes=runs, steps=LANCZOS_STEPS, generator=generator)
    return density, density.products


def _at_least(interval: Interval, least: float) -> Interval:
    return Interval(*(max(end, least) for end in (interval.value, interval.low, interval.high)))


def _mean_square_product(images_NK: Tensor) -> float:
    """E (w_i . w_k)^2 over pairs of different probes is tr((J J^T)^2), without bias and for nothing."""
    gram = (images_NK.double().mT @ images_NK.double()).cpu()
    count = len(gram)
    off = (gram**2).sum() - (torch.diagonal(gram) ** 2).sum()
    return float(off) / (count * (count - 1))
