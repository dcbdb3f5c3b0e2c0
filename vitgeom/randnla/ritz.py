"""Rayleigh-Ritz on a block Golub-Kahan factorisation.   M = rows, N = columns, R = triplets, A, B = left and right vectors of the bases."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float, Float64
from torch import Tensor

from vitgeom.randnla.block_golub_kahan import BlockGolubKahan

SETTLED = 1e-3
"""A squared Ritz value that moved by less than this share in the last step counts as converged."""


@dataclass(frozen=True)
class RitzTriplets:
    """Singular triplets of J restricted to the right basis: J v_j = sigma_j u_j holds to rounding.

    Attributes:
        sigma: Every Ritz value, descending; never above the singular value of the same place.
        left_MR: u_j of the first R.
        right_NR: v_j of the first R.
        residuals: ||J v - sigma u|| of the triplets half a step earlier, which cost no product; those returned are further along.
        converged: How many leading values moved by at most ``SETTLED`` of their square in the last step.
        lost: Estimate of what the top R squared values still miss of the true ones, from how fast their sum settles.
    """

    sigma: Float64[Tensor, " b"]
    left_MR: Float[Tensor, "m r"]
    right_NR: Float[Tensor, "n r"]
    residuals: Float64[Tensor, " r"]
    converged: int
    lost: float


def ritz_triplets(basis: BlockGolubKahan, *, rank: int) -> RitzTriplets:
    """Return the leading triplets from the singular value decomposition K = X S Y^T: u = U x, v = V y.

    Args:
        basis: J V = U K.
        rank: R at most; fewer come back where J has fewer singular values above rounding.
    """
    x_AB, sigma, yt_BB = torch.linalg.svd(basis.coupling_AB, full_matrices=False)
    kept = min(rank, numerical_rank(sigma, basis))
    return RitzTriplets(
        sigma,
        basis.left_MA @ x_AB[:, :kept].to(basis.left_MA),
        basis.right_NB @ yt_BB[:kept].mT.to(basis.right_NB),
        _residuals(basis, kept),
        max(basis.complete, _converged(basis, sigma)) if basis.complete < rank else basis.complete,
        0.0 if basis.complete >= rank else _lost(basis, kept),
    )


def numerical_rank(sigma: Float64[Tensor, " k"], basis: BlockGolubKahan) -> int:
    """Return how many values are above rounding, sqrt(max(M, N)) eps times the largest.

    Args:
        sigma: Descending.
        basis: What they are of.
    """
    if len(sigma) == 0:
        return 0
    longest = max(basis.left_MA.shape[0], basis.right_NB.shape[0])
    floor = longest**0.5 * torch.finfo(basis.left_MA.dtype).eps * float(sigma[0])
    return int((sigma > floor).sum())


def _residuals(basis: BlockGolubKahan, kept: int) -> Tensor:
    """J^T U_c = V K_c^T gives exact triplets of J^T; what J v then has outside U_c is the rest of K times y."""
    closed, rest = basis.coupling_AB[: basis.closed], basis.coupling_AB[basis.closed :]
    yt = torch.linalg.svd(closed, full_matrices=False).Vh
    return torch.nn.functional.pad((rest @ yt.mT).norm(dim=0), (0, max(0, kept - len(yt))))[:kept]


def _previous(basis: BlockGolubKahan, back: int) -> Tensor:
    """Squared Ritz values ``back`` steps before the end; empty before the first."""
    if back >= len(basis.stages):
        return torch.zeros(0, dtype=torch.float64)
    stage = basis.stages[-1 - back]
    return torch.linalg.svdvals(basis.coupling_AB[: stage.left, : stage.right]) ** 2


def _converged(basis: BlockGolubKahan, sigma: Tensor) -> int:
    before = _previous(basis, 1)
    now = sigma[: len(before)] ** 2
    moved = (now - before > SETTLED * now).nonzero()
    return int(moved[0]) if len(moved) else len(before)


def _lost(basis: BlockGolubKahan, rank: int) -> float:
    """Extrapolate the sum of the top squared values as a geometric series (Aitken 1926): d q / (1 - q), q the ratio of its last two gains.

    A gain that shrank by less than a tenth tells nothing about the end, so q is held at 0.9.
    """
    now, before, earlier = (float(_previous(basis, back)[:rank].sum()) for back in (0, 1, 2))
    gain, gain_before = now - before, before - earlier
    if gain <= 0 or gain_before <= 0:
        return 0.0
    ratio = min(gain / gain_before, 0.9)
    return gain * ratio / (1 - ratio)
