"""The problems that are still being solved: where each stands and what is known there, in float64.

n = rows, q = basis directions + 1, P = problems of the batch, A = active ones, K = classes.
"""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float32, Float64, Int64
from torch import Tensor

from vitgeom.probes.conjugate_gradient import dot_of, norm_of
from vitgeom.probes.fold_weights import FoldWeights
from vitgeom.probes.hessian import Hessian
from vitgeom.probes.objective import Evaluation, SoftmaxObjective
from vitgeom.probes.row_file import RowFile
from vitgeom.probes.streamed_hessian import StreamedHessian

SMALLEST_SCALE = 1e-8
"""Floor of the gradient norm at zero weights: below it there is nothing to learn and rounding would decide."""

SUFFICIENT_DECREASE = 1e-4
MAX_HALVINGS = 30

BIAS_DAMPING = 1e-3
"""Damping of the bias rows per relative gradient norm; the curvature of an undecided problem is 0.1 to 0.001."""


class ActiveProblems:
    """The part of a batch that is still moving; value, gradient and probabilities always belong to the present point.

    Attributes:
        place: Which problems of the batch are active ``[A]``.
        coef: Present weights of these in the basis, the last the bias ``[A, K, q]``.
        now: Objective, gradient and probabilities there.
    """

    def __init__(
        self,
        objective: SoftmaxObjective,
        *,
        l2: Float64[Tensor, " P"],
        problems: Int64[Tensor, " P"],
        start: Float64[Tensor, "P K q"] | None = None,
    ) -> None:
        """Put all problems at their start; the gradient at zero gives each its scale.

        Args:
            objective: Data and float64 evaluation.
            l2: Penalties.
            problems: Which columns of the objective's row weights they use.
            start: Weights in the basis, the last the bias; zero where it is None.
        """
        self._objective, self._l2, self._problems = objective, l2, problems
        self.place = torch.arange(len(l2), device=l2.device)
        shape = (len(l2), objective.num_classes, len(objective.basis.variances) + 1)
        self.coef = torch.zeros(shape, dtype=torch.float64, device=objective.x.device)
        self.now = self._evaluate(self.coef, self.place)
        self._scale = norm_of(self.now.gradient).clamp(min=SMALLEST_SCALE)
        if start is not None:
            self.coef, self.now = start, self._evaluate(start, self.place)

    @property
    def grad_norm(self) -> Float64[Tensor, " A"]:
        """Gradient norm of each active problem, relative to the one at zero."""
        return norm_of(self.now.gradient) / self._scale[self.place]

    def keep(self, mask: Bool[Tensor, " A"]) -> None:
        """Drop the problems outside the mask."""
        if bool(mask.all()):
            return
        self.place, self.coef, self.now = self.place[mask], self.coef[mask], self.now.of(mask)

    def hessian(self, features: Float32[Tensor, "n q"] | RowFile) -> Hessian | StreamedHessian:
        """Return the Hessians at the present points, slightly damped on the bias.

        The bias has no penalty: where a problem is sure of every row it has no curvature either, and an undamped step
        would run away. The damping falls with the gradient, so it does not slow the end.

        Args:
            features: float32 features in the basis, last column ones. Those in a file are read in every product, and the
                class probabilities are computed anew.
        """
        penalty = self._l2[self.place, None].float().repeat(1, features.shape[1])
        penalty[:, -1] = (BIAS_DAMPING * self.grad_norm).float()
        weight = self._objective.weight_of(self._problems[self.place])
        if isinstance(features, RowFile):
            return StreamedHessian(features, self.coef.float(), weight, penalty, self._objective.chunk_rows)
        assert self.now.probability is not None, "features in memory go with probabilities in memory"
        dense = weight[:] if isinstance(weight, FoldWeights) else weight
        share = (dense.T / len(features)).float().contiguous()
        return Hessian(features, self.now.probability, share, penalty)

    def line_search(self, step: Float64[Tensor, "A K q"]) -> Float64[Tensor, " A"]:
        """Move along the step, halved until the objective falls enough (Armijo 1966).

        Args:
            step: A descent direction per problem.

        Returns:
            The share of the step that each problem took; 0 for one that cannot get lower within rounding and so stays
            where it was.
        """
        start, value, slope = self.coef, self.now.value, dot_of(self.now.gradient, step)
        length = torch.ones_like(slope)
        short = torch.ones_like(slope, dtype=torch.bool)
        for _ in range(MAX_HALVINGS):
            self._move(short, start[short] + length[short][:, None, None] * step[short])
            allowed = value + SUFFICIENT_DECREASE * length * slope + 1e-14 * value.abs()
            # An overflow gives NaN, which compares as false: not low enough.
            short = ~(self.now.value <= allowed)
            if not bool(short.any()):
                return length
            length = torch.where(short, 0.5 * length, length)
        self._move(short, start[short])
        return torch.where(short, 0.0, length)

    def _move(self, mask: Bool[Tensor, " A"], coef: Float64[Tensor, "M K q"]) -> None:
        """Put the problems of the mask at new points."""
        there = self._evaluate(coef, self.place[mask])
        if bool(mask.all()):
            self.coef, self.now = coef, there
            return
        self.coef, now = self.coef.clone(), self.now
        self.coef[mask] = coef
        value, gradient = now.value.clone(), now.gradient.clone()
        value[mask], gradient[mask] = there.value, there.gradient
        if now.probability is not None and there.probability is not None:
            now.probability[mask] = there.probability
        self.now = Evaluation(value, gradient, now.probability)

    def _evaluate(self, coef: Float64[Tensor, "M K q"], place: Int64[Tensor, " M"]) -> Evaluation:
        return self._objective.evaluate(coef, l2=self._l2[place], problems=self._problems[place])
