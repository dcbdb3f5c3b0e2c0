"""The probe objective and its gradient in float64, for many problems on the same features at once.

F_p(W, b) = (1/n) sum_i w_ip CE(softmax(W' z_i + b), y_i) + (lambda_p / 2) ||W||_F^2,   sum_i w_ip = n.

Rows come last: products of few columns with many rows are several times faster that way round.

n = rows, b = rows of a block, D = width, r = directions of the basis, q = r + 1 (the last is the bias), P = problems, K = classes.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float32, Float64, Int64
from torch import Tensor

from vitgeom.probes.basis import EigenBasis
from vitgeom.probes.fold_weights import FoldWeights, RowWeights
from vitgeom.probes.row_file import Rows
from vitgeom.probes.standardise import Standardiser


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Objective, gradient and class probabilities (None where they are not kept) at one point per problem."""

    value: Float64[Tensor, " P"]
    gradient: Float64[Tensor, "P K q"]
    probability: Float32[Tensor, "P K n"] | None

    def of(self, mask: Bool[Tensor, " P"]) -> Evaluation:
        """Return what belongs to some of the problems."""
        probability = None if self.probability is None else self.probability[mask]
        return Evaluation(self.value[mask], self.gradient[mask], probability)


@dataclass(frozen=True, eq=False)
class SoftmaxObjective:
    """Everything about the data that the objective needs; weights are asked for at a point.

    The features stay in their own dtype; rows are standardised to float64 a chunk at a time, so a value here is exact
    to float64 rounding whatever precision the solver's inner products use.

    Attributes:
        x: Raw features, in memory or in a file.
        target: Class index of each row.
        standardiser: Column means and deviations.
        basis: Where the coefficients live.
        row_weight: Weight of each row in each problem (one column: the same in all, or by fold), mean 1 over rows.
        num_classes: K.
        chunk_rows: Rows turned to float64 at a time.
        keep_probability: Whether an evaluation holds the class probabilities of all rows.
    """

    x: Rows
    target: Int64[Tensor, " n"]
    standardiser: Standardiser
    basis: EigenBasis
    row_weight: RowWeights
    num_classes: int
    chunk_rows: int
    keep_probability: bool = True

    def weight_of(self, problems: Int64[Tensor, " P"]) -> RowWeights:
        """Return the row weights of some problems (one column when all problems share them)."""
        if isinstance(self.row_weight, FoldWeights):
            return self.row_weight.of(problems)
        return self.row_weight if self.row_weight.shape[1] == 1 else self.row_weight[:, problems]

    def evaluate(
        self, coef: Float64[Tensor, "P K q"], *, l2: Float64[Tensor, " P"], problems: Int64[Tensor, " P"]
    ) -> Evaluation:
        """Return value, gradient and probabilities of each problem at its own point.

        Cost: two products of ``[n, D]`` with P*K columns.

        Args:
            coef: Weights in the basis, the last the bias.
            l2: Penalty of each problem.
            problems: Which columns of ``row_weight`` they use.
        """
        num_rows, (num_problems, num_classes, _) = len(self.x), coef.shape
        inner = coef[:, :, :-1].reshape(num_problems * num_classes, -1) @ self.basis.directions.T
        weight = self.weight_of(problems)
        value = torch.zeros(num_problems, dtype=torch.float64, device=coef.device)
        slope, slope_bias = torch.zeros_like(inner), torch.zeros_like(coef[:, :, -1])
        probability = None
        if self.keep_probability:
            probability = torch.empty(num_problems, num_classes, num_rows, device=coef.device)
        for start in range(0, num_rows, self.chunk_rows):
            rows = slice(start, start + self.chunk_rows)
            z = self.standardiser(self.x[rows])
            logits = (inner @ z.T).view(num_problems, num_classes, -1).add_(coef[:, :, -1:])
            loss, residual = _row_losses(logits, self.target[rows])
            if probability is not None:
                probability[:, :, rows] = residual
            residual[:, self.target[rows], torch.arange(len(z), device=z.device)] -= 1.0
            share = weight[rows].T
            residual *= share[:, None]
            value += (loss * share).sum(dim=1)
            slope.addmm_(residual.view(len(slope), -1), z)
            slope_bias += residual.sum(dim=2)
        gradient = torch.empty_like(coef)
        gradient[:, :, :-1] = (slope @ self.basis.directions).view(num_problems, num_classes, -1) / num_rows
        gradient[:, :, :-1] += l2[:, None, None] * coef[:, :, :-1]
        gradient[:, :, -1] = slope_bias / num_rows
        value = value / num_rows + 0.5 * l2 * coef[:, :, :-1].square().sum(dim=(1, 2))
        return Evaluation(value, gradient, probability)


def _row_losses(
    logits: Float64[Tensor, "P K b"], target: Int64[Tensor, " b"]
) -> tuple[Float64[Tensor, "P b"], Float64[Tensor, "P K b"]]:
    """Return -log softmax at the target, and the probabilities, with rows last."""
    log_p = torch.log_softmax(logits, dim=1)
    loss = -log_p[:, target, torch.arange(len(target), device=target.device)]
    return loss, log_p.exp_()


def cross_entropy(
    logits: Float64[Tensor, "n P K"], target: Int64[Tensor, " n"]
) -> tuple[Float64[Tensor, "n P"], Float64[Tensor, "n P K"]]:
    """Return -log softmax at the target, and the probabilities.

    Args:
        logits: Any finite values.
        target: Class index of each row.
    """
    log_p = torch.log_softmax(logits, dim=2)
    loss = -log_p[torch.arange(len(target), device=target.device), :, target]
    return loss, log_p.exp_()
