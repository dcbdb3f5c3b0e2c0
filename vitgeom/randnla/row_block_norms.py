"""Norms of blocks of columns of J, from products with J^T: the untruncated importance of every token.   M, N = shape of J, T = blocks, K = probes."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float, Float64
from torch import Generator, Tensor

from vitgeom.errors import InvalidInput
from vitgeom.linop import LinearOperator
from vitgeom.randnla.block_golub_kahan import BlockGolubKahan
from vitgeom.randnla.checked_product import vjp
from vitgeom.randnla.deflated_probes import DeflatedProbes
from vitgeom.randnla.hutchinson import check_probes
from vitgeom.randnla.products import Products
from vitgeom.randnla.random_vectors import Draw, signs
from vitgeom.whole_numbers import whole_number


@dataclass(frozen=True)
class BlockNorms:
    """||J_t||_F^2 of consecutive blocks of columns.

    Attributes:
        squared_T: The estimates; their sum estimates ||J||_F^2.
        stderr_T: One standard error each; 0 where exact.
        products: Spent on them alone.
    """

    squared_T: Float64[Tensor, " t"]
    stderr_T: Float64[Tensor, " t"]
    products: Products


def row_block_norms(
    operator: LinearOperator, *, num_blocks: int, num_probes: int, draw: Draw = signs, generator: Generator
) -> BlockNorms:
    """Estimate ||J_t||_F^2 = E||(J^T u)_t||^2 for T blocks of rows of J^T; K products, and ||J||_F^2 comes with it.

    Args:
        operator: J [M, N].
        num_blocks: T; divides N.
        num_probes: K >= 2.
        draw: Distribution of u.
        generator: The only source of randomness.

    Raises:
        InvalidInput: The blocks do not divide N, or fewer than two probes.
        NumericalFailure: A product is not finite.
    """
    check_blocks(operator.shape[1], num_blocks)
    check_probes(num_probes)
    images = vjp(operator, draw(operator.shape[0], num_probes, generator=generator))
    nothing = torch.zeros(num_blocks, dtype=torch.float64)
    return _combined(nothing, images, Products(vjp=num_probes))


def deflated_block_norms(basis: BlockGolubKahan, probes: DeflatedProbes, *, num_blocks: int) -> BlockNorms:
    """Return ||J_t||_F^2 = ||(J^T U_c)_t||_F^2 + E||(J^T u)_t||^2 with u orthogonal to U_c; nothing is spent.

    Deflation has to be on the output side: with right vectors V the cross term of J V V^T and J (I - V V^T) within a block does not vanish.

    Args:
        basis: Its J^T U_c = V K_c^T is the exact part.
        probes: Of its complement.
        num_blocks: T; divides N.

    Raises:
        InvalidInput: The blocks do not divide N.
    """
    check_blocks(basis.right_NB.shape[0], num_blocks)
    coupling = basis.coupling_AB if basis.exhausted else basis.coupling_AB[: basis.closed]
    known = basis.right_NB.double() @ coupling.mT.to(basis.right_NB.device)
    return _combined(block_energy(known, num_blocks).sum(dim=1), probes.images_NK, probes.products)


def block_energy(columns_NK: Float[Tensor, "n k"], num_blocks: int) -> Float64[Tensor, "t k"]:
    """Return the squared length of every block of every column, on the CPU.

    Args:
        columns_NK: N rows in T consecutive blocks of equal size.
        num_blocks: T.
    """
    length, count = columns_NK.shape
    cut = columns_NK.reshape(num_blocks, length // num_blocks, count)
    return (cut.double() ** 2).sum(dim=1).cpu()


def check_blocks(length: int, num_blocks: int) -> None:
    """Refuse a number of blocks that does not divide the columns.

    Args:
        length: N.
        num_blocks: T.

    Raises:
        InvalidInput: It does not.
    """
    whole_number("num_blocks", num_blocks, at_least=1)
    if length % num_blocks:
        raise InvalidInput(
            f"num_blocks must be >= 1 and divide the {length} columns of the operator, got {num_blocks}."
        )


def _combined(known_T: Tensor, images_NK: Tensor, products: Products) -> BlockNorms:
    """Exact part plus the mean over probes; no probes means nothing is left outside."""
    count = images_NK.shape[1]
    if count == 0:
        return BlockNorms(known_T, torch.zeros_like(known_T), products)
    samples = block_energy(images_NK, len(known_T))
    stderr = (samples.var(dim=1, unbiased=True) / count).sqrt()
    return BlockNorms(known_T + samples.mean(dim=1), stderr, products)
