"""An orthonormal basis that grows by blocks and stays orthonormal.   N = length, K = vectors so far, B = width of the block, C <= B = vectors added."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float, Float64
from torch import Generator, Tensor

from vitgeom.randnla.random_vectors import gaussian

EVEN = 0.1
"""Singular values of a block within this factor of the largest lose at most one digit of orthogonality."""


@dataclass(frozen=True)
class Extension:
    """W = Q known + new remainder, up to what was truncated.

    Attributes:
        new_NC: Orthonormal, and orthogonal to the basis; C may be 0.
        known_KB: Coefficients of W in the basis; float64 on the CPU.
        remainder_CB: Coefficients of W in ``new_NC``; float64 on the CPU.
    """

    new_NC: Tensor
    known_KB: Float64[Tensor, "k b"]
    remainder_CB: Float64[Tensor, "c b"]


def extend(basis_NK: Float[Tensor, "n k"], block_NB: Float[Tensor, "n b"], *, tolerance: float) -> Extension:
    """Orthogonalise a block against a basis and against itself, leaving out directions shorter than the tolerance.

    Gram-Schmidt runs twice ("twice is enough", Giraud et al. 2005); the rest is truncated by its singular values. What is kept is cleaned twice more if
    some of it is much shorter than the rest: such directions carry the rounding errors of the longer ones in them.

    Args:
        basis_NK: Orthonormal columns; K may be 0.
        block_NB: W, in the same dtype.
        tolerance: Absolute.
    """
    known = basis_NK.mT @ block_NB
    rest = block_NB - basis_NK @ known
    again = basis_NK.mT @ rest
    rest = rest - basis_NK @ again
    q_NB, r_BB = torch.linalg.qr(rest)
    x, s, yt = torch.linalg.svd(r_BB.double().cpu(), full_matrices=False)
    room = basis_NK.shape[0] - basis_NK.shape[1]
    kept = int((s > tolerance).sum().clamp_max(room))
    new = q_NB @ x[:, :kept].to(q_NB)
    uneven = kept > 0 and bool(s[kept - 1] < EVEN * s[0])
    for _ in range(2 if uneven else 0):
        new = orthonormal_columns(new - basis_NK @ (basis_NK.mT @ new))
    return Extension(new, (known + again).double().cpu(), s[:kept, None] * yt[:kept])


def orthonormal_columns(block_NB: Float[Tensor, "n b"]) -> Float[Tensor, "n c"]:
    """Return Q of a thin QR whose R has a diagonal >= 0, so that nearly orthonormal columns keep their signs.

    Args:
        block_NB: Full column rank, B <= N.
    """
    q, r = torch.linalg.qr(block_NB)
    return q * torch.where(r.diagonal() < 0, -1.0, 1.0).to(q)


def fresh_block(basis_NK: Float[Tensor, "n k"], width: int, *, generator: Generator) -> Float[Tensor, "n c"]:
    """Return up to ``width`` orthonormal directions, uniform in the complement of a basis; fewer where there is no more room.

    Args:
        basis_NK: Orthonormal columns; K may be 0.
        width: Directions wanted.
        generator: The only source of randomness.
    """
    length, size = basis_NK.shape
    drawn = gaussian(length, min(width, length - size), generator=generator).to(basis_NK)
    return extend(basis_NK, drawn, tolerance=0.0).new_NC


def largest_column(block_NB: Float[Tensor, "n b"]) -> float:
    """Return the length of the longest column, summed in double precision: squares of single precision overflow above 1e19 and vanish below 1e-23.

    Args:
        block_NB: At least one column.
    """
    return float(torch.linalg.vector_norm(block_NB, dim=0, dtype=torch.float64).max())


def orthogonality_error(basis_NK: Float[Tensor, "n k"]) -> float:
    """Return the largest entry of |Q^T Q - I|, 0 for an empty basis.

    Args:
        basis_NK: Q.
    """
    gram = (basis_NK.mT @ basis_NK).double().cpu()
    error = (gram - torch.eye(len(gram), dtype=torch.float64)).abs()
    return float(error.max()) if error.numel() else 0.0
