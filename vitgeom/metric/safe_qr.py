"""Orthonormal columns whose gradient stays bounded when columns are equal, zero or dependent.   B = matrices, n = rows, r = columns.

Q of a thin QR has no gradient where columns are dependent: torch's is 1e7 for equal ones and not a number for a zero one. Here every column x_j is first

    x^_j = x_j / sqrt(||x_j||^2 + (a s)^2) + t p_j,      s^2 = mean of the squared column norms + n b^2,      a = 0.1, b = t = 1e-3,

with p_j fixed orthonormal columns that no data resembles (cosines with shuffled rows). So no singular value of X^ falls much below t, and the span of healthy columns turns by
about t. Then Q = X^ R^-1 with X^T X^ = R^T R (Cholesky QR; Fukaya et al. 2014), whose r x r algebra is in double precision: the Gram matrix of X^ has a condition number below
1e8, which double precision carries and single precision does not. Where Q itself was rounded in single precision a second pass makes it orthonormal again.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import torch
from jaxtyping import Float, Float64
from torch import Tensor
from torch.autograd import Function

from vitgeom.errors import InvalidInput, NumericalFailure

JITTER = 1e-3
"""t: share of a fixed direction in each column."""

FLOOR = 0.1
"""a: columns shorter than this share of the others' norm count as short and are not stretched to length 1."""

ZERO = 1e-3
"""b: entries are expected to be of order 1; a matrix of much smaller ones counts as zero."""

_CHUNK = 4096
_CLEAN = 1e-5


def orthonormal_columns(x_BNR: Float[Tensor, "b n r"]) -> Float[Tensor, "b n r"]:
    """Return orthonormal columns that span those of each matrix, up to an angle of about 1e-3.

    Column j depends on columns 1..j as in a QR with positive diagonal. Cost: 5 products n x r x r forward and as many backward.

    Args:
        x_BNR: Any; n >= r. float64 stays, everything else is computed and returned in float32.

    Raises:
        InvalidInput: More columns than rows.
        NumericalFailure: An entry is not finite.
    """
    if x_BNR.shape[2] > x_BNR.shape[1]:
        raise InvalidInput(
            f"{x_BNR.shape[2]} orthonormal columns do not fit {x_BNR.shape[1]} rows; ask for fewer columns."
        )
    with torch.autocast(x_BNR.device.type, enabled=False):
        x_BNR = x_BNR if x_BNR.dtype == torch.float64 else x_BNR.float()
        p_NR = _fixed_columns(*x_BNR.shape[1:], dtype=x_BNR.dtype, device=x_BNR.device)
        q_BNR = _first_pass(x_BNR, p_NR)
        return q_BNR if _orthonormal(q_BNR) else _second_pass(q_BNR)


def _first_pass(x_BNR: Tensor, p_NR: Tensor) -> Tensor:
    """Return X^ R^-1 without forming X^: what is long is multiplied by small matrices alone."""
    gram_BRR, cross_BRR = _Gram.apply(x_BNR), (x_BNR.mT @ p_NR).double()
    if not bool(gram_BRR.isfinite().all()):
        raise NumericalFailure(
            "columns to be made orthonormal are not finite; look at the features, or lower the learning rate."
        )
    squares_BR = gram_BRR.diagonal(dim1=1, dim2=2)
    floor_B1 = FLOOR**2 * (squares_BR.mean(dim=1, keepdim=True) + ZERO**2 * len(p_NR))
    scale_BR = (squares_BR + floor_B1).rsqrt()
    mixed_BRR = JITTER * scale_BR[:, :, None] * cross_BRR
    jittered = scale_BR[:, :, None] * gram_BRR * scale_BR[:, None, :] + mixed_BRR + mixed_BRR.mT
    inverse_BRR = _inverse_factor(jittered + JITTER**2 * torch.eye(len(p_NR.T)).to(jittered))
    fixed_BNR = p_NR @ (JITTER * inverse_BRR).to(x_BNR)
    return torch.baddbmm(fixed_BNR, x_BNR, (scale_BR[:, :, None] * inverse_BRR).to(x_BNR))


def _second_pass(q_BNR: Tensor) -> Tensor:
    """Return columns that are orthonormal to rounding, from some that nearly are."""
    return q_BNR @ _inverse_factor(_Gram.apply(q_BNR)).to(q_BNR)


def _inverse_factor(gram_BRR: Float64[Tensor, "b r r"]) -> Float64[Tensor, "b r r"]:
    """Return R^-1 of G = R^T R with R upper triangular."""
    factor = torch.linalg.cholesky(gram_BRR)
    one = torch.eye(gram_BRR.shape[1]).to(gram_BRR).expand_as(gram_BRR)
    return torch.linalg.solve_triangular(factor, one, upper=False).mT


def _orthonormal(q_BNR: Tensor) -> bool:
    q_BNR = q_BNR.detach()
    error = q_BNR.mT @ q_BNR - torch.eye(q_BNR.shape[2]).to(q_BNR)
    return bool(error.abs().max() < _CLEAN) if error.numel() else True


@lru_cache(maxsize=4)
@torch.inference_mode(False)
def _fixed_columns(n: int, r: int, *, dtype: torch.dtype, device: torch.device) -> Tensor:
    """Return r orthonormal columns: cosines of r frequencies with their rows in an order that steps through them by the golden ratio.

    Kept for the shapes of late: they cost more than the rest of the orthonormalisation.
    """
    stride = next(step for step in range(max(1, round(n * 0.618)), 2 * n + 2) if math.gcd(step, n) == 1)
    place = torch.arange(n, device=device) * stride % n
    # The highest frequencies of the cosine basis: smooth fields over tokens or channels are far from them.
    frequency = n - 1 - torch.arange(r, device=device)
    angle = (2 * place[:, None] + 1) * frequency % (4 * n)
    columns = torch.cos(angle.double() * (math.pi / (2 * n))) * math.sqrt(2 / n)
    columns[:, frequency == 0] /= math.sqrt(2)
    return columns.to(dtype)


class _Gram(Function):
    """X^T X in double precision, whatever the precision of X, a stretch of rows at a time."""

    @staticmethod
    def forward(ctx: Any, x_BNR: Tensor) -> Tensor:
        ctx.save_for_backward(x_BNR)
        parts = (part.double() for part in x_BNR.split(_CHUNK, dim=1))
        return torch.stack([part.mT @ part for part in parts]).sum(dim=0)

    @staticmethod
    def backward(ctx: Any, *upstream: Tensor) -> Tensor:
        (x_BNR,) = ctx.saved_tensors
        return x_BNR @ (upstream[0] + upstream[0].mT).to(x_BNR)
