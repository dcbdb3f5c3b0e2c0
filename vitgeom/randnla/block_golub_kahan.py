"""Block Golub-Kahan bidiagonalisation with full reorthogonalisation (Golub, Luk & Overton 1981), guarded against breakdown.

M = rows of J, N = columns, A = left vectors, B = right vectors, C <= A = closed left vectors.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float64
from torch import Generator, Tensor

from vitgeom.errors import NumericalFailure
from vitgeom.linop import LinearOperator
from vitgeom.randnla.checked_product import jvp, vjp, working_dtype
from vitgeom.randnla.orthonormal import extend, fresh_block, largest_column, orthogonality_error
from vitgeom.randnla.products import Products
from vitgeom.whole_numbers import whole_number

SAME = 1e-6
"""Singular values this close, relatively, count as copies of one."""


@dataclass(frozen=True)
class Stage:
    """Where the bases stood after one pair of half steps.

    Attributes:
        left: Left vectors then.
        closed: Closed left vectors then.
        right: Right vectors then.
        first_left: Left vectors before the fresh random block that this run started from; 0 in the first run.
        first_right: Right vectors before it.
    """

    left: int
    closed: int
    right: int
    first_left: int
    first_right: int


@dataclass(frozen=True)
class BlockGolubKahan:
    """J V = U K with orthonormal U and V, and J^T U_c = V K_c^T for the first C left vectors.

    Attributes:
        left_MA: U.
        right_NB: V.
        coupling_AB: K, float64 on the CPU.
        closed: C.
        width: Vectors of the first random block.
        stages: One per pair of half steps.
        exhausted: Nothing of J is left outside: J = U K V^T up to rounding (with probability one).
        starts: One unbiased estimate of ||J||_F^2 from every vector of every fresh block.
        complete: How many leading singular values are certain: all if exhausted, else those that a closed run from a fresh block did not exceed.
        products: Spent.
    """

    left_MA: Tensor
    right_NB: Tensor
    coupling_AB: Float64[Tensor, "a b"]
    closed: int
    width: int
    stages: tuple[Stage, ...]
    exhausted: bool
    complete: int
    starts: Float64[Tensor, " s"]
    products: Products


def block_golub_kahan(
    operator: LinearOperator, *, width: int, rank: int, max_products: int, generator: Generator
) -> BlockGolubKahan:
    """Bidiagonalise J from a random block of output directions, keeping every iterate.

    One step is J^T U_i -> V_i -> J V_i -> U_{i+1}. Each new block is truncated by its singular values at 4 sqrt(max(M, N)) eps ||J||. An empty one means
    that the span is closed under J and J^T; the run then goes on from a fresh random block in the complement, which sees whatever of J
    is still outside (and the other copies of a repeated singular value). It ends when the products are spent, when nothing
    is left, or when a closed run from a fresh block found nothing above the rank-th singular value: then none is missing.

    Args:
        operator: J.
        width: Vectors per block, >= 1. Narrow is more accurate per product, wide has larger batches.
        rank: Leading singular triplets that are wanted, >= 1.
        max_products: At most so many are spent, >= 2.
        generator: The only source of randomness.

    Returns:
        The factorisation; 2 products per right vector, 3 where singular values are repeated.

    Raises:
        InvalidInput: A number out of range.
        NumericalFailure: A product is not finite, or a basis lost its orthogonality.
    """
    for name, value, least in (
        ("width", width, 1),
        ("rank", rank, 1),
        ("max_products", max_products, 2),
    ):
        whole_number(name, value, at_least=least)
    growth = _Growth(operator, width=width, generator=generator)
    while growth.step(max_products, rank=rank):
        pass
    return growth.result()


class _Growth:
    """The bases while they grow; keeps J V = U K after every step."""

    def __init__(self, operator: LinearOperator, *, width: int, generator: Generator) -> None:
        self.operator, self.width, self.generator = operator, width, generator
        rows, columns = operator.shape
        dtype, device = working_dtype(operator), operator.device
        self.left = torch.zeros(rows, 0, dtype=dtype, device=device)
        self.right = torch.zeros(columns, 0, dtype=dtype, device=device)
        self.coupling = torch.zeros(0, 0, dtype=torch.float64)
        self.closed, self.first_left, self.first_right, self.complete = 0, 0, 0, 0
        self.norm, self.exhausted, self.products = 0.0, False, Products()
        self.stages: list[Stage] = []
        self.starts: list[float] = []

    @property
    def tolerance(self) -> float:
        eps = torch.finfo(working_dtype(self.operator)).eps
        return 4 * max(self.operator.shape) ** 0.5 * eps * self.norm

    def step(self, max_products: int, *, rank: int) -> bool:
        """Do one pair of half steps; return whether another one makes sense."""
        if self.right.shape[1] == self.operator.shape[1]:
            self.exhausted = True  # V is a basis of everything J can be fed with
            return False
        affordable = (max_products - self.products.total) // 2
        if affordable < 1:
            return False
        if self.closed == self.left.shape[1] and not self._start_afresh(rank):
            return False
        count = min(self.left.shape[1] - self.closed, affordable)
        added = self._right_half_step(count)
        if added:
            self._left_half_step(added)
        elif self.closed == self.first_left + count:
            self.exhausted = True  # a fresh random block met nothing of J
        self.stages.append(
            Stage(self.left.shape[1], self.closed, self.right.shape[1], self.first_left, self.first_right)
        )
        return not self.exhausted

    def _start_afresh(self, rank: int) -> bool:
        if self.left.shape[1] == self.operator.shape[0]:
            self.exhausted = True
            return False
        if self.right.shape[1] >= rank and self._nothing_new(rank):
            return False
        self.first_left, self.first_right = self.left.shape[1], self.right.shape[1]
        self._add_left(fresh_block(self.left, self.width, generator=self.generator))
        return True

    def _nothing_new(self, rank: int) -> bool:
        """Whether the run that just closed stayed at or below the rank-th value found so far."""
        everything = torch.linalg.svdvals(self.coupling)
        latest = torch.linalg.svdvals(self.coupling[self.first_left :, self.first_right :])
        if latest[0] > everything[rank - 1] * (1 + SAME):
            return False
        self.complete = int((everything >= latest[0] * (1 - SAME)).sum())
        return True

    def _add_left(self, new: Tensor) -> None:
        self.left = torch.cat([self.left, new], dim=1)
        self.coupling = torch.nn.functional.pad(self.coupling, (0, 0, 0, new.shape[1]))

    def _right_half_step(self, count: int) -> int:
        block = vjp(self.operator, self.left[:, self.closed : self.closed + count])
        self.products += Products(vjp=count)
        if self.closed == self.first_left:
            self.starts += self._start_estimates(block)
        self.norm = max(self.norm, largest_column(block))
        new = extend(self.right, block, tolerance=self.tolerance).new_NC
        self.right = torch.cat([self.right, new], dim=1)
        self.closed += count
        return new.shape[1]

    def _start_estimates(self, images: Tensor) -> list[float]:
        """J^T q of a uniform direction q in the complement of A closed ones: ||J||_F^2 = ||J V||_F^2 + (M - A) E||J^T q||^2."""
        known, room = float((self.coupling**2).sum()), self.operator.shape[0] - self.first_left
        return (known + room * (images.double() ** 2).sum(dim=0)).tolist()

    def _left_half_step(self, added: int) -> None:
        block = jvp(self.operator, self.right[:, -added:])
        self.products += Products(jvp=added)
        self.norm = max(self.norm, largest_column(block))
        extension = extend(self.left, block, tolerance=self.tolerance)
        columns = torch.cat([extension.known_KB, extension.remainder_CB])
        self._add_left(extension.new_NC)
        self.coupling = torch.cat([self.coupling, columns], dim=1)

    def result(self) -> BlockGolubKahan:
        error = max(orthogonality_error(self.left), orthogonality_error(self.right))
        allowed = 100 * max(self.operator.shape) ** 0.5 * torch.finfo(self.left.dtype).eps
        if not error <= allowed:
            raise NumericalFailure(
                f"the bases of block Golub-Kahan lost their orthogonality: error {error:.1e}, at most {allowed:.1e} is expected in {self.left.dtype}. "
                "Check that matmat and rmatmat are adjoint and deterministic."
            )
        return BlockGolubKahan(
            self.left,
            self.right,
            self.coupling,
            self.closed,
            self.width,
            tuple(self.stages),
            self.exhausted,
            self.right.shape[1] if self.exhausted else self.complete,
            torch.tensor(self.starts, dtype=torch.float64),
            self.products,
        )
