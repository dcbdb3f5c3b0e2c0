"""Trace from products with random vectors (Hutchinson 1990).   N = order, M = rows, K = probes."""

from __future__ import annotations

from torch import Generator

from vitgeom.errors import InvalidInput
from vitgeom.linop import LinearOperator
from vitgeom.randnla.checked_product import jvp, vjp
from vitgeom.randnla.estimate import Estimate
from vitgeom.randnla.products import Products
from vitgeom.randnla.random_vectors import Draw, signs
from vitgeom.whole_numbers import whole_number

FEWEST = 2
"""Below that there is no standard error."""


def hutchinson_trace(
    operator: LinearOperator, *, num_probes: int, draw: Draw = signs, generator: Generator
) -> Estimate:
    """Estimate tr(A) = E[z^T A z] without bias, with its standard error.

    For symmetric A one probe of signs has variance 2 (||A||_F^2 - sum_i A_ii^2). Wrong to use where few eigenvalues dominate: the relative error is
    sqrt(2 / K) / sqrt(participation ratio); deflate them first.

    Args:
        operator: Square, order N; only ``matmat`` is called.
        num_probes: K >= 2 products with A.
        draw: Distribution of the probes.
        generator: The only source of randomness.

    Returns:
        The mean of K probes, its standard error and the products spent.

    Raises:
        InvalidInput: The operator is not square, or ``num_probes`` < 2.
        NumericalFailure: A product is not finite.
    """
    check_square(operator, purpose="trace")
    check_probes(num_probes)
    z_NK = draw(operator.shape[1], num_probes, generator=generator)
    samples_K = (z_NK * jvp(operator, z_NK).double().cpu()).sum(dim=0)
    return Estimate.from_samples(samples_K, products=Products(jvp=num_probes))


def frobenius_squared(
    operator: LinearOperator,
    *,
    num_probes: int,
    transposed: bool = True,
    draw: Draw = signs,
    generator: Generator,
) -> Estimate:
    """Estimate ||J||_F^2 = tr(J J^T) = E||J^T u||^2, or = tr(J^T J) = E||J v||^2.

    Args:
        operator: J [M, N].
        num_probes: K >= 2.
        transposed: Probe with J^T u, which costs less than J v in automatic differentiation.
        draw: Distribution of the probes.
        generator: The only source of randomness.

    Raises:
        InvalidInput: ``num_probes`` < 2.
        NumericalFailure: A product is not finite.
    """
    check_probes(num_probes)
    z = draw(operator.shape[0 if transposed else 1], num_probes, generator=generator)
    images = vjp(operator, z) if transposed else jvp(operator, z)
    spent = Products(vjp=num_probes) if transposed else Products(jvp=num_probes)
    return Estimate.from_samples((images.double() ** 2).sum(dim=0).cpu(), products=spent)


def check_square(operator: LinearOperator, *, purpose: str) -> None:
    """Refuse an operator that is not square.

    Args:
        operator: Any.
        purpose: What needs it square.

    Raises:
        InvalidInput: It is not.
    """
    rows, columns = operator.shape
    if rows != columns:
        raise InvalidInput(f"{purpose} needs a square operator, got {rows} x {columns}.")


def check_probes(num_probes: object, *, at_least: int = FEWEST) -> None:
    """Refuse too few probes.

    Args:
        num_probes: K.
        at_least: The fewest.

    Raises:
        InvalidInput: Fewer, or no whole number.
    """
    whole_number("num_probes", num_probes, at_least=at_least, way_out="fewer give no error bar")
