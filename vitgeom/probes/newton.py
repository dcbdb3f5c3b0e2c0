"""Truncated Newton for a batch of softmax regressions (Dembo, Eisenstat and Steihaug 1982; Boehning 1992).

Directions come from float32 conjugate gradients; values, gradients, line search and the convergence test are float64.

n = rows, q = basis directions + 1, P = problems, K = classes.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float32, Float64, Int64
from torch import Tensor

from vitgeom.probes.conjugate_gradient import conjugate_gradient, dot_of, norm_of
from vitgeom.probes.hessian import Hessian, kronecker_preconditioner
from vitgeom.probes.objective import Evaluation, SoftmaxObjective

SMALLEST_SCALE = 1e-8
"""Floor of the gradient norm at zero weights: below it there is nothing to learn and rounding would decide."""

MAX_PRODUCTS = 500
MAX_HALVINGS = 30


@dataclass(frozen=True, eq=False)
class Solution:
    """Where each problem ended, with its certificate.

    Attributes:
        coef: Weights in the basis, last row the bias.
        value: Objective.
        grad_norm: Gradient norm relative to the one at zero weights and bias, in float64.
        converged: ``grad_norm <= tol``.
        iterations: Newton steps.
        products: Hessian products spent by all problems together.
    """

    coef: Float64[Tensor, "q P K"]
    value: Float64[Tensor, " P"]
    grad_norm: Float64[Tensor, " P"]
    converged: Bool[Tensor, " P"]
    iterations: Int64[Tensor, " P"]
    products: int


class _Batch:
    """The problems that are still being solved: their points and what is known there."""

    def __init__(self, objective: SoftmaxObjective, l2: Tensor, problems: Tensor) -> None:
        self.objective, self.l2, self.problems = objective, l2, problems
        rank, num_classes = len(objective.basis.variances), objective.num_classes
        self.coef = torch.zeros(
            rank + 1, len(problems), num_classes, dtype=torch.float64, device=objective.x.device
        )
        self.now = objective.evaluate(self.coef, l2=l2, problems=problems)
        self.scale = norm_of(self.now.gradient).clamp(min=SMALLEST_SCALE)

    @property
    def grad_norm(self) -> Float64[Tensor, " P"]:
        """Relative gradient norm of each problem."""
        return norm_of(self.now.gradient) / self.scale

    def keep(self, mask: Tensor) -> None:
        """Drop the problems outside the mask."""
        self.coef, self.l2, self.problems, self.scale = (
            self.coef[:, mask], self.l2[mask], self.problems[mask], self.scale[mask],
        )  # fmt: skip
        now = self.now
        self.now = Evaluation(now.value[mask], now.gradient[:, mask], now.probability[:, mask])

    def hessian(self, features: Float32[Tensor, "n q"]) -> Hessian:
        """Return the Hessians at the current points."""
        penalty = self.l2.float().expand(features.shape[1], -1).clone()
        penalty[-1] = 0.0
        weight = (self.objective.weight_of(self.problems) / len(features)).float()
        return Hessian(features, self.now.probability, weight, penalty)

    def line_search(self, step: Float64[Tensor, "q P K"]) -> Bool[Tensor, " P"]:
        """Move along the step, halved until the objective falls enough; return which problems moved."""
        start, before = self.coef, self.now
        slope = dot_of(before.gradient, step)
        allowed = 1e-14 * before.value.abs()
        length = torch.ones_like(slope)
        self.coef = start + step
        self.now = self.objective.evaluate(self.coef, l2=self.l2, problems=self.problems)
        for _ in range(MAX_HALVINGS):
            # NaN compares as false, so an overflow is "not enough" too.
            short = ~(self.now.value <= before.value + 1e-4 * length * slope + allowed)
            if not bool(short.any()):
                return ~short
            length = torch.where(short, 0.5 * length, length)
            trial = start[:, short] + length[short][:, None] * step[:, short]
            self._replace(short, trial)
        short = ~(self.now.value <= before.value + 1e-4 * length * slope + allowed)
        if bool(short.any()):
            self._replace(short, start[:, short])
        return ~short

    def _replace(self, mask: Tensor, coef: Tensor) -> None:
        trial = self.objective.evaluate(coef, l2=self.l2[mask], problems=self.problems[mask])
        self.coef[:, mask] = coef
        self.now.value[mask] = trial.value
        self.now.gradient[:, mask] = trial.gradient
        self.now.probability[:, mask] = trial.probability


def solve(
    objective: SoftmaxObjective,
    features: Float32[Tensor, "n q"],
    *,
    l2: Float64[Tensor, " P"],
    problems: Int64[Tensor, " P"],
    tol: float,
    max_iter: int,
) -> Solution:
    """Minimise P objectives that share their features.

    Every problem takes its own Newton steps to its own accuracy, but all of them share each product with the features;
    a converged one leaves the batch.

    Args:
        objective: Data and float64 evaluation.
        features: float32 features in the basis, last column ones.
        l2: Penalties, > 0.
        problems: Which columns of the objective's row weights the problems use.
        tol: Relative gradient norm to reach.
        max_iter: Most Newton steps per problem.
    """
    batch = _Batch(objective, l2, problems)
    variances = torch.cat([objective.basis.variances, objective.basis.variances.new_ones(1)])
    coef, value, norms = batch.coef.clone(), batch.now.value.clone(), batch.grad_norm
    iterations = torch.zeros(len(l2), dtype=torch.int64, device=l2.device)
    place = torch.arange(len(l2), device=l2.device)
    moving = batch.grad_norm > tol
    products = 0
    for _ in range(max_iter):
        if not bool(moving.all()):
            batch.keep(moving)
            place = place[moving]
        if len(place) == 0:
            break
        step, spent = _newton_step(batch, batch.hessian(features), variances=variances, tol=tol)
        products += spent
        moved = batch.line_search(step)
        iterations[place] += 1
        coef[:, place], value[place], norms[place] = batch.coef, batch.now.value, batch.grad_norm
        moving = moved & (batch.grad_norm > tol)
    return Solution(coef, value, norms, norms <= tol, iterations, products)


def _newton_step(
    batch: _Batch, hessian: Hessian, *, variances: Float64[Tensor, " q"], tol: float
) -> tuple[Float64[Tensor, "q P K"], int]:
    """Return a descent direction per problem: the Newton step, solved only as far as it pays."""
    preconditioner = kronecker_preconditioner(hessian, variances=variances)
    norm = batch.grad_norm
    # Superlinear near the end, but never tighter than what the last step needs.
    forcing = torch.minimum(norm.sqrt(), torch.full_like(norm, 0.25)).maximum(0.3 * tol / norm).clamp(max=0.5)
    # Scaled to norm 1 so that tiny gradients do not underflow in float32.
    size = norm_of(batch.now.gradient)
    rhs = (-batch.now.gradient / size[:, None]).float()
    step, spent = conjugate_gradient(
        hessian, rhs, preconditioner=preconditioner, tolerance=forcing.float(), max_products=MAX_PRODUCTS
    )
    downhill = (dot_of(rhs, step) > 0) & torch.isfinite(norm_of(step))
    step = torch.where(downhill[:, None], step, rhs)
    return step.double() * size[:, None], spent
