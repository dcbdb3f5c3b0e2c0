"""Stochastic Lanczos quadrature of a spectrum (Ubaru, Chen & Saad 2017, Algorithm 1).   N = order, P = probes, K = steps, E = eigenpairs known."""

from __future__ import annotations

import torch
from jaxtyping import Float, Float64
from torch import Generator, Tensor

from vitgeom.errors import InvalidInput
from vitgeom.linop import LinearOperator
from vitgeom.randnla.gram import GramOperator
from vitgeom.randnla.lanczos import Lanczos, lanczos
from vitgeom.randnla.products import Products
from vitgeom.randnla.random_vectors import gaussian
from vitgeom.randnla.spectral_density import SpectralDensity
from vitgeom.whole_numbers import whole_number


def spectral_density(
    operator: LinearOperator,
    *,
    num_probes: int,
    steps: int,
    known_right_NE: Float[Tensor, "n e"] | None = None,
    known_values_E: Float64[Tensor, " e"] | None = None,
    generator: Generator,
) -> SpectralDensity:
    """Estimate the density of eigenvalues of J^T J.

    A Lanczos run from z gives the Gauss quadrature of z^T f(J^T J) z: nodes are the eigenvalues of T, weights the squared FIRST components of its
    eigenvectors, which sum to 1. Over P random z the weights times (N - E) / P count eigenvalues. Known pairs are kept as they are and
    projected out of the operator and of z. Costs P K products each way.

    Wrong to use alone where few large eigenvalues dominate: a count of 1 in N is noise. Give those as known pairs.

    Args:
        operator: J [M, N].
        num_probes: P >= 1.
        steps: K >= 1 per probe; fewer where the Krylov space closes.
        known_right_NE: Orthonormal right singular vectors that are known.
        known_values_E: Their sigma^2; needed with them.
        generator: The only source of randomness.

    Raises:
        InvalidInput: A number out of range, or known vectors without their values.
        NumericalFailure: A product is not finite.
    """
    for name, value in (("num_probes", num_probes), ("steps", steps)):
        whole_number(name, value, at_least=1)
    known = _known(known_right_NE, known_values_E)
    order, size = operator.shape[1], len(known)
    if size >= order:
        return SpectralDensity.of_eigenvalues(known)
    gram = GramOperator(operator, without_NE=known_right_NE)
    values, counts, spent = [], [], Products()
    for _ in range(num_probes):
        start = gram.project(gaussian(order, 1, generator=generator))
        run = lanczos(gram, start.to(gram.device, gram.dtype), steps=steps)
        nodes, weights = gauss_quadrature(run)
        spent += Products(jvp=run.products.jvp, vjp=run.products.jvp)
        values.append(nodes)
        counts.append(weights * (order - size) / num_probes)
    return SpectralDensity.mixed(
        known.sort(descending=True).values, torch.cat(values), torch.cat(counts), products=spent
    )


def gauss_quadrature(run: Lanczos) -> tuple[Float64[Tensor, " k"], Float64[Tensor, " k"]]:
    """Return nodes and weights of the quadrature behind a Lanczos run; the weights sum to 1.

    Args:
        run: From the start vector whose measure is wanted.
    """
    nodes, vectors = torch.linalg.eigh(run.tridiagonal())
    return nodes, vectors[0] ** 2


def _known(right: Tensor | None, values: Tensor | None) -> Tensor:
    if (right is None) != (values is None) or (
        right is not None and values is not None and right.shape[1] != len(values)
    ):
        raise InvalidInput(
            "known_right_NE and known_values_E must be given together, one value per vector; "
            f"got {None if right is None else list(right.shape)} and {None if values is None else list(values.shape)}."
        )
    return torch.zeros(0, dtype=torch.float64) if values is None else values
