"""The four bounds behind the diagnosis, checked on measured figures (B16 of the methods).

M = outputs, N = tokens, D = width, R = directions, K = tokens kept. J = [J_1 ... J_N] with J_t [M, D]; V, sigma its right singular vectors and singular values.
A bound that does not hold is a defect of the implementation, never a property of the data.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import torch
from jaxtyping import Float, Float64
from torch import Tensor

from vitgeom.errors import InvalidInput
from vitgeom.linop import LinearOperator
from vitgeom.randnla.checked_product import jvp, working_dtype
from vitgeom.randnla.products import NOTHING_SPENT, Products
from vitgeom.spectra.diagnosis import Diagnosis
from vitgeom.spectra.kappa_cap import orthonormality
from vitgeom.whole_numbers import whole_number

ROUNDING = 1e-5
"""Relative slack for float32 products."""
ERRORS = 4.0
"""Standard errors granted to a bound that is itself an estimate."""


@dataclass(frozen=True)
class BoundCheck:
    """A measured figure beside its bound.

    Attributes:
        theorem: 1 to 4.
        claim: In words.
        measured: The figure.
        bound: What it must not exceed.
        slack: Granted for rounding and for a bound that was estimated; not part of ``bound``.
        products: Spent on the check.
    """

    theorem: int
    claim: str
    measured: float
    bound: float
    slack: float
    products: Products

    @property
    def holds(self) -> bool:
        """Whether measured <= bound + slack."""
        return self.measured <= self.bound + self.slack

    def to_json(self) -> dict[str, Any]:
        """Return all fields and whether the bound holds."""
        return {**asdict(self), "holds": self.holds}


def captured_share(
    operator: LinearOperator, directions_ndR: Float[Tensor, "nd r"], diagnosis: Diagnosis
) -> BoundCheck:
    """Theorem 1: no R directions capture more than kappa_cap(R).

    ||J U||_F^2 / ||J||_F^2 <= (sigma_1^2 + ... + sigma_R^2) / ||J||_F^2 for every U with R orthonormal columns. R products.

    Args:
        operator: J.
        directions_ndR: U, orthonormal; for example the range of a learnt rank-R metric.
        diagnosis: Of the same J, with ``rank`` at least R.

    Raises:
        InvalidInput: U has more columns than the diagnosis asked for, or J is zero.
        NumericalFailure: U is not orthonormal.
    """
    # Ky Fan: tr(U^T A U) <= sum of the R largest eigenvalues of A = J^T J. Let A = V S V^T; tr(U^T A U) = sum_j s_j w_j with
    # w_j = ||U^T v_j||^2 in [0, 1] and sum_j w_j <= R; putting all weight on the R largest s_j is the best one can do.
    orthonormality(directions_ndR)
    count = directions_ndR.shape[1]
    if diagnosis.kappa is None or diagnosis.kappa_caps_R is None:
        raise InvalidInput("diagnosis is of a zero Jacobian: no share of it is defined.")
    if count > diagnosis.rank_asked:
        raise InvalidInput(
            f"directions must be at most {diagnosis.rank_asked}, as many as the diagnosis asked for, got {count}. Diagnose with rank={count}."
        )
    energy = float((jvp(operator, directions_ndR).double() ** 2).sum())
    # Fewer found than asked for: J has no more, and further directions add nothing.
    bound = float(diagnosis.kappa_caps_R[min(count, diagnosis.rank) - 1])
    uncertain = diagnosis.kappa.high - diagnosis.kappa.low
    return BoundCheck(
        1,
        f"{count} directions capture no more than kappa_cap",
        energy / diagnosis.norm.value,
        bound,
        uncertain + ROUNDING,
        Products(jvp=count),
    )


def best_tokens_share(weights_N: Float64[Tensor, " n"], *, kept: int) -> BoundCheck:
    """Theorem 2: where weights vary little over tokens, no K tokens hold much more than K / N of them.

    Share of the K largest weights <= K / N + CV sqrt(K (N - K)) / N, for any weights >= 0: token energies e_t, their sigma^2-weighted form, or squared block
    norms ||J_t||_F^2, of which K tokens hold exactly the share of ||J||_F^2 that changes to them alone can reach. No product.

    So a score per token, however it ranks them, cannot pick K tokens that carry more than that: at CV = 0.05 and K = N / 10, 11.5 %.

    Args:
        weights_N: One per token, >= 0, not all zero.
        kept: K in 1..N.

    Raises:
        InvalidInput: K is out of range, or a weight is negative or not finite, or all are zero.
    """
    # w_t = m (1 + d_t), sum d = 0, sum d^2 = N CV^2. With s = sum of d over the K kept ones, Cauchy-Schwarz on both parts gives
    # N CV^2 >= s^2 / K + s^2 / (N - K) = s^2 N / (K (N - K)), so s <= CV sqrt(K (N - K)); their share is (K + s) / N.
    count = len(weights_N)
    kept = whole_number("kept", kept, at_least=1, at_most=count)
    total = float(weights_N.sum())
    if not bool((weights_N >= 0).all()) or not 0 < total < float("inf"):
        raise InvalidInput(
            "weights must be finite and >= 0 with a positive sum: no share of zero is defined."
        )
    largest = float(weights_N.sort(descending=True).values[:kept].sum()) / total
    variation = float(torch.std(weights_N, correction=0)) / (total / count)
    bound = kept / count + variation * (kept * (count - kept)) ** 0.5 / count
    return BoundCheck(
        2, f"the best {kept} of {count} tokens hold no more", largest, bound, 1e-9, NOTHING_SPENT
    )


def truncated_importance(diagnosis: Diagnosis) -> BoundCheck:
    """Theorem 2, per token: importance from R directions is at most the block norm, imp*_t <= ||J_t||_F.

    The figure is the largest excess of imp*_t^2 over ||J_t||_F^2, relative to ||J||_F^2; the bound is 0. No product.

    Args:
        diagnosis: Of J.
    """
    # J_t^T J_t is the t-th diagonal block of V S V^T, so ||J_t||_F^2 = sum over ALL j of sigma_j^2 ||v_j^(t)||^2; cutting the sum drops terms >= 0.
    scale = diagnosis.norm.value or 1.0
    excess = (diagnosis.importance_N**2 - diagnosis.block_norms_N**2) / scale
    worst = int(excess.argmax())
    slack = ERRORS * float(diagnosis.block_norms_stderr_N[worst]) / scale + ROUNDING
    return BoundCheck(
        2,
        f"importance of token {worst} is within its block norm",
        float(excess[worst]),
        0.0,
        slack,
        NOTHING_SPENT,
    )


def rank_through_bottleneck(
    sigma: Float64[Tensor, " r"], *, bottleneck: int, dtype: torch.dtype
) -> BoundCheck:
    """Theorem 3: behind a bottleneck of M' numbers at most M' singular values are not zero.

    The figure is sigma_{M'+1} / sigma_1, 0 where no more than M' values are given; the bound is 0, the slack rounding in ``dtype``.

    Args:
        sigma: Singular values of J, descending; ask for more than M' of them.
        bottleneck: M' >= 1, the width that all paths go through.
        dtype: In which products were made.

    Raises:
        InvalidInput: The bottleneck is less than 1.
    """
    # J = J_2 J_1 with J_1 [M', N D]: rank J <= rank J_1 <= M'. Products in floating point change singular values by about eps sigma_1 (Weyl).
    bottleneck = whole_number("bottleneck", bottleneck, at_least=1)
    beyond = float(sigma[bottleneck] / sigma[0]) if len(sigma) > bottleneck and float(sigma[0]) > 0 else 0.0
    slack = 1e3 * torch.finfo(dtype).eps
    return BoundCheck(
        3, f"no singular value beyond the first {bottleneck}", beyond, 0.0, slack, NOTHING_SPENT
    )


def first_order_change(
    operator: LinearOperator,
    diagnosis: Diagnosis,
    *,
    delta_ND: Float[Tensor, "n d"],
    change_M: Float[Tensor, " m"],
) -> BoundCheck:
    """Theorem 4: ||T(F') - T(F)|| <= sum_t ||J_t||_F ||delta_t|| + remainder, delta = F' - F.

    The remainder ||T(F') - T(F) - J delta|| is O(||delta||^2) for smooth T; it is measured with one product and granted as slack, so that the check is exact at
    any size of delta and the reader sees how much of the bound first order explains.

    Args:
        operator: J at F.
        diagnosis: Of it, with block norms.
        delta_ND: Change of the features.
        change_M: T(F') - T(F).

    Raises:
        InvalidInput: Shapes do not fit the operator.
        NumericalFailure: The product is not finite.
    """
    # ||T(F') - T(F)|| <= ||J delta|| + remainder; ||J delta|| = ||sum_t J_t delta_t|| <= sum_t ||J_t||_2 ||delta_t|| and ||J_t||_2 <= ||J_t||_F.
    rows, columns = operator.shape
    if len(delta_ND) != diagnosis.num_tokens or delta_ND.numel() != columns or len(change_M) != rows:
        raise InvalidInput(
            f"delta must be [{diagnosis.num_tokens}, {columns // diagnosis.num_tokens}] and change [{rows}], "
            f"got {list(delta_ND.shape)} and {list(change_M.shape)}."
        )
    linear = jvp(operator, delta_ND.reshape(-1, 1)).double().cpu()[:, 0]
    moved, lengths = change_M.double().cpu(), delta_ND.double().cpu().norm(dim=1)
    remainder = float((moved - linear).norm())
    bound = float((diagnosis.block_norms_N * lengths).sum())
    surely = (diagnosis.block_norms_N**2 + ERRORS * diagnosis.block_norms_stderr_N).sqrt()
    uncertain = float((surely * lengths).sum()) - bound
    rounding = 100 * torch.finfo(working_dtype(operator)).eps * bound
    return BoundCheck(
        4,
        "the output moves no more than its tokens' block norms allow, up to the second-order remainder",
        float(moved.norm()),
        bound,
        remainder + uncertain + rounding,
        Products(jvp=1),
    )
