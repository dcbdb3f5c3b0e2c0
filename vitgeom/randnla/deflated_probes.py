"""Probes of what a bidiagonalisation left outside (Meyer, Musco, Musco & Woodruff 2021, on the Krylov basis of Chen & Hallman 2023).

M = rows, N = columns, K = probes, A, B, C as in ``block_golub_kahan``.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float, Float64
from torch import Generator, Tensor

from vitgeom.errors import InvalidInput
from vitgeom.linop import LinearOperator
from vitgeom.randnla.block_golub_kahan import BlockGolubKahan
from vitgeom.randnla.checked_product import vjp
from vitgeom.randnla.estimate import Estimate
from vitgeom.randnla.products import Products
from vitgeom.randnla.random_vectors import gaussian

FEWEST = 2
"""Below that there is no standard error."""

ALIKE = 2.0
"""Samples whose variances differ by no more than this factor are averaged with equal weights."""


@dataclass(frozen=True)
class DeflatedProbes:
    """J^T u for random u orthogonal to the closed left vectors.

    Attributes:
        images_NK: J^T u_k; E[u u^T] = I - U_c U_c^T.
        outside_S: ||(I - V V^T) J^T u_k||^2, each an unbiased estimate of ||J||_F^2 - ||J V||_F^2; where several runs closed, those of their fresh blocks too.
        known: ||J V||_F^2.
        products: Spent on the probes alone.
    """

    images_NK: Tensor
    outside_S: Float64[Tensor, " s"]
    known: float
    products: Products

    @property
    def norm(self) -> Estimate:
        """||J||_F^2; never below ``known``."""
        if len(self.outside_S) < FEWEST:
            return Estimate(self.known, 0.0, self.products)
        return Estimate.from_samples(self.outside_S, products=self.products, offset=self.known)


def deflated_probes(
    operator: LinearOperator,
    basis: BlockGolubKahan,
    *,
    num_probes: int,
    chunk: int = 16,
    generator: Generator,
) -> DeflatedProbes:
    """Estimate ||J||_F^2 = ||J V||_F^2 + E||(I - V V^T) J^T u||^2 with K products on the VJP side.

    The result is projected, so u itself needs no projection: taking u off the range of J V would drop ||U^T J (I - V V^T)||^2. For the closed left
    vectors alone that term is zero, (I - V V^T) J^T U_c = (I - V V^T) V K_c^T = 0, so u may be drawn from their complement, on its sphere of radius
    sqrt(M - C): the same mean, no part of the variance from how long u is, and none at all where J is an isometry outside.

    With an exhausted basis nothing is outside and nothing is spent.

    Args:
        operator: J.
        basis: From :func:`block_golub_kahan`.
        num_probes: K >= 2.
        chunk: Vectors multiplied at once.
        generator: The only source of randomness.

    Raises:
        InvalidInput: Fewer than two probes.
        NumericalFailure: A product is not finite.
    """
    if num_probes < FEWEST:
        raise InvalidInput(f"num_probes must be >= {FEWEST} to give an error bar, got {num_probes}.")
    known = float((basis.coupling_AB**2).sum())
    if basis.exhausted:
        nothing = basis.right_NB[:, :0]
        return DeflatedProbes(nothing, torch.zeros(0, dtype=torch.float64), known, Products())
    u_MK = _off(basis.left_MA[:, : basis.closed], num_probes, generator=generator)
    images = torch.cat([vjp(operator, part) for part in u_MK.split(chunk, dim=1)], dim=1)
    outside = images - basis.right_NB @ (basis.right_NB.mT @ images)
    samples = _with_starts(_squared_lengths(outside), basis, known)
    return DeflatedProbes(images, samples, known, Products(vjp=num_probes))


def _with_starts(samples_K: Tensor, basis: BlockGolubKahan, known: float) -> Tensor:
    """Add what the fresh blocks of closed runs said, unless it scatters more.

    After a run has closed, what is outside looks as before (a spectrum of few distinct values), so each fresh vector was one more probe, already paid for. In a single run, or
    above spikes, the first block was not deflated at all, and its large variance would spoil the mean.
    """
    runs = len({stage.first_left for stage in basis.stages})
    if runs < 2 or float(basis.starts.var()) > ALIKE * float(samples_K.var()):
        return samples_K
    return torch.cat([samples_K, basis.starts - known])


def _off(closed_MC: Float[Tensor, "m c"], count: int, *, generator: Generator) -> Float[Tensor, "m k"]:
    """Return vectors uniform on the sphere of radius sqrt(M - C) in the complement of orthonormal columns."""
    rows, size = closed_MC.shape
    drawn = gaussian(rows, count, generator=generator).to(closed_MC)
    for _ in range(2):
        drawn = drawn - closed_MC @ (closed_MC.mT @ drawn)
    return drawn * ((rows - size) ** 0.5 / drawn.norm(dim=0))


def _squared_lengths(columns_NK: Tensor) -> Float64[Tensor, " k"]:
    return (columns_NK.double() ** 2).sum(dim=0).cpu()
