"""Truncated Newton for a batch of softmax regressions (Dembo, Eisenstat and Steihaug 1982; Boehning 1992).

Directions come from float32 conjugate gradients; values, gradients, line search and the convergence test are float64.

n = rows, q = basis directions + 1, P = problems, K = classes.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float32, Float64, Int64
from torch import Tensor

from vitgeom.probes.active_problems import ActiveProblems
from vitgeom.probes.conjugate_gradient import conjugate_gradient, dot_of, norm_of
from vitgeom.probes.hessian import Hessian, kronecker_preconditioner
from vitgeom.probes.objective import SoftmaxObjective
from vitgeom.probes.row_file import RowFile
from vitgeom.probes.streamed_hessian import StreamedHessian

MAX_PRODUCTS = 500
"""Most Hessian products of one problem in one Newton step."""

FORCING = 0.25
"""Share of the gradient that a step may leave: far from the optimum an exact step is wasted, near it a few rough ones cost less."""


@dataclass(frozen=True, eq=False)
class Solution:
    """Where each problem ended, with its certificate.

    Attributes:
        coef: Weights in the basis, the last the bias.
        value: Objective.
        grad_norm: Gradient norm relative to the one at zero weights and bias, in float64.
        converged: ``grad_norm <= tol``.
        iterations: Newton steps.
        products: Hessian products spent by all problems together.
    """

    coef: Float64[Tensor, "P K q"]
    value: Float64[Tensor, " P"]
    grad_norm: Float64[Tensor, " P"]
    converged: Bool[Tensor, " P"]
    iterations: Int64[Tensor, " P"]
    products: int


def solve(
    objective: SoftmaxObjective,
    features: Float32[Tensor, "n q"] | RowFile,
    *,
    l2: Float64[Tensor, " P"],
    problems: Int64[Tensor, " P"],
    tol: float,
    max_iter: int,
    start: Float64[Tensor, "P K q"] | None = None,
) -> Solution:
    """Minimise P objectives that share their features.

    Every problem takes its own Newton steps to its own accuracy, but all of them share each product with the features;
    a converged one leaves the batch.

    Args:
        objective: Data and float64 evaluation.
        features: float32 features in the basis, last column ones, in memory or in a file.
        l2: Penalties, > 0.
        problems: Which columns of the objective's row weights the problems use.
        tol: Relative gradient norm to reach.
        max_iter: Most Newton steps per problem.
        start: Where to start, in the basis; zero if None. The tolerance is relative to the gradient at zero either way.
    """
    active = ActiveProblems(objective, l2=l2, problems=problems, start=start)
    variances = torch.cat([objective.basis.variances, objective.basis.variances.new_ones(1)])
    coef, value, norms = active.coef.clone(), active.now.value.clone(), active.grad_norm
    iterations = torch.zeros(len(l2), dtype=torch.int64, device=l2.device)
    products = 0
    active.keep(norms > tol)
    while len(active.place):
        step, spent = _newton_step(active, active.hessian(features), variances=variances, tol=tol)
        length = active.line_search(step)
        place, norm = active.place, active.grad_norm
        coef[place], value[place], norms[place] = active.coef, active.now.value, norm
        iterations[place] += 1
        products += spent
        active.keep((norm > tol) & (length > 0) & (iterations[place] < max_iter))
    return Solution(coef, value, norms, norms <= tol, iterations, products)


def _newton_step(
    active: ActiveProblems,
    hessian: Hessian | StreamedHessian,
    *,
    variances: Float64[Tensor, " q"],
    tol: float,
) -> tuple[Float64[Tensor, "P K q"], int]:
    """Return a descent direction per problem: the Newton step, solved only as far as it pays."""
    preconditioner = kronecker_preconditioner(hessian, variances=variances)
    norm = active.grad_norm
    # Never tighter than what the last step needs.
    forcing = (0.3 * tol / norm).clamp(min=FORCING, max=0.5)
    # Scaled to norm 1 so that tiny gradients do not underflow in float32.
    size = norm_of(active.now.gradient)
    rhs = (-active.now.gradient / size[:, None, None]).float()
    step, spent = conjugate_gradient(
        hessian, rhs, preconditioner=preconditioner, tolerance=forcing.float(), max_products=MAX_PRODUCTS
    )
    downhill = (dot_of(rhs, step) > 0) & torch.isfinite(norm_of(step))
    step = torch.where(downhill[:, None, None], step, rhs)
    # A constant over classes is rounding; the preconditioner is blind to it, so it would stay for good.
    step = step.double() - step.double().mean(dim=1, keepdim=True)
    return step * size[:, None, None], spent
