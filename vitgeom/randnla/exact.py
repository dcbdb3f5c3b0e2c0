"""All of J by products with the identity on its smaller side, and its singular value decomposition.   M = rows, N = columns, S = min(M, N)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from jaxtyping import Float, Float64
from torch import Tensor

from vitgeom.linop import LinearOperator
from vitgeom.randnla.checked_product import jvp, vjp, working_dtype
from vitgeom.randnla.products import Products
from vitgeom.whole_numbers import whole_number

STRETCH = 4096
"""Rows of J^T that are in float64 at once."""


@dataclass(frozen=True)
class ExactDecomposition:
    """Every singular value of J, the leading right vectors, and its columns' lengths.

    Attributes:
        sigma: All S of them, descending; rounding below zero is cut off.
        right_NR: Right singular vectors of the first R.
        columns_squared_N: ||J e_i||^2.
        products: S.
    """

    sigma: Float64[Tensor, " s"]
    right_NR: Float[Tensor, "n r"]
    columns_squared_N: Float64[Tensor, " n"]
    products: Products


def materialise(operator: LinearOperator, *, chunk: int = 32) -> tuple[Float[Tensor, "n m"], Products]:
    """Return J^T as a matrix, by min(M, N) products.

    Args:
        operator: J [M, N].
        chunk: Columns of the identity multiplied at once.

    Raises:
        InvalidInput: A number is no whole number >= 1.
        NumericalFailure: A product is not finite.
    """
    rows, columns = operator.shape
    whole_number("chunk", chunk, at_least=1)
    side, multiply = (rows, vjp) if rows <= columns else (columns, jvp)
    whole = torch.empty(max(rows, columns), side, dtype=working_dtype(operator), device=operator.device)
    for start, block in zip(range(0, side, chunk), _identity_blocks(operator, side, chunk), strict=True):
        whole[:, start : start + chunk] = multiply(operator, block)
    return (whole, Products(vjp=side)) if rows <= columns else (whole.mT, Products(jvp=side))


def exact_decomposition(operator: LinearOperator, *, rank: int, chunk: int = 32) -> ExactDecomposition:
    """Decompose J exactly, with min(M, N) products.

    A float64 J goes through a singular value decomposition of J^T [N, M], which keeps small values to eps ||J||. For float32 the float64 Gram
    matrix of the smaller side [S, S] is as exact as the products are (its square root resolves 1e-8 ||J||) and costs a tenth.

    Memory: J once in its working dtype, M N items, with a stretch of 4,096 rows of J^T in float64. To it come, for float64 operators, the copies that the
    decomposition makes of it; otherwise S^2 numbers and N R in float64.

    Args:
        operator: J [M, N].
        rank: R >= 1 right vectors at most; fewer where fewer singular values are above sqrt(max(M, N)) eps ||J||.
        chunk: Columns of the identity multiplied at once.

    Raises:
        InvalidInput: A number is no whole number >= 1.
        NumericalFailure: A product is not finite.
    """
    whole_number("rank", rank, at_least=1)
    jt_NM, spent = materialise(operator, chunk=chunk)
    squared = torch.linalg.vector_norm(jt_NM, dim=1, dtype=torch.float64).square().cpu()
    if jt_NM.dtype == torch.float64:
        right, sigma, _ = torch.linalg.svd(jt_NM.cpu(), full_matrices=False)
    else:
        right, sigma = _through_gram(jt_NM, rank)
    floor = max(operator.shape) ** 0.5 * torch.finfo(working_dtype(operator)).eps * float(sigma[0])
    kept = min(rank, int((sigma > floor).sum()))
    return ExactDecomposition(sigma, right[:, :kept].to(jt_NM), squared, spent)


def _identity_blocks(operator: LinearOperator, side: int, chunk: int) -> Iterator[Tensor]:
    """Columns of the identity, one block at a time."""
    for start in range(0, side, chunk):
        width = min(chunk, side - start)
        block = torch.zeros(side, width, dtype=operator.dtype, device=operator.device)
        block[start : start + width] = torch.eye(width, dtype=operator.dtype, device=operator.device)
        yield block


def _through_gram(jt_NM: Tensor, rank: int) -> tuple[Tensor, Tensor]:
    columns, rows = jt_NM.shape
    short = jt_NM if rows <= columns else jt_NM.mT
    gram = torch.zeros(short.shape[1], short.shape[1], dtype=torch.float64)
    for part in short.split(STRETCH):
        wide = part.double().cpu()
        gram.addmm_(wide.mT, wide)
    values, vectors = torch.linalg.eigh(gram)
    sigma = values.flip(0).clamp_min(0).sqrt()
    leading = vectors.flip(1)[:, :rank]
    if rows > columns:
        return leading, sigma
    images = [part.double().cpu() @ leading for part in jt_NM.split(STRETCH)]
    return torch.linalg.qr(torch.cat(images)).Q, sigma
