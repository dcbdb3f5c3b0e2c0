"""Ridge discriminant on principal coordinates, in closed form, with exact leave-one-out predictions.

Regressing centred class indicators on the features (Hastie, Buja and Tibshirani 1995, penalised discriminant analysis) gives in
closed form what logistic regression reaches only far beyond n = D, and generalises better below it.

n = rows, r = coordinates, K = classes, P = strengths.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float32, Float64, Int64
from torch import Tensor
from torch.nn.functional import one_hot

from vitgeom.fusion.staged_rows import blocks, mapped
from vitgeom.probes.memory import DEFAULT_BYTE_BUDGET
from vitgeom.probes.row_file import RowFile

SHARES: tuple[float, ...] = tuple(10.0 ** (-8 + 0.5 * step) for step in range(15))
"""Ridge strengths to try, as shares of the total variance."""


@dataclass(frozen=True, eq=False)
class Discriminant:
    """Class scores that are linear in the coordinates.

    Attributes:
        weight: Coefficients; they sum to 0 over classes.
        prior: Share of each class among the training rows.
        ridge: Penalty per coordinate, in units of variance.
    """

    weight: Float64[Tensor, "r K"]
    prior: Float64[Tensor, " K"]
    ridge: float

    def scores(self, x: Float32[Tensor, "n r"]) -> Float64[Tensor, "n K"]:
        """Return how far the predicted class indicators exceed the priors."""
        return x.double() @ self.weight


@dataclass(frozen=True, eq=False)
class RidgeStatistics:
    """All that the training rows say to a ridge discriminant, whatever its strength: sums over rows.

    Attributes:
        variances: Mean square of each coordinate; the coordinates are centred and uncorrelated.
        cross: Mean of coordinate times centred class indicator.
        prior: Share of each class.
        num_rows: n.
    """

    variances: Float64[Tensor, " r"]
    cross: Float64[Tensor, "r K"]
    prior: Float64[Tensor, " K"]
    num_rows: int

    @classmethod
    def of(
        cls,
        x: Float32[Tensor, "n r"] | RowFile,
        target: Int64[Tensor, " n"],
        *,
        variances: Float64[Tensor, " r"],
        num_classes: int,
    ) -> RidgeStatistics:
        """Sum over the training rows.

        Args:
            x: Principal coordinates, in memory or in a file.
            target: Class indices.
            variances: Mean square of each coordinate.
            num_classes: K.
        """
        num_rows = len(x)
        prior = torch.bincount(target, minlength=num_classes).double() / num_rows
        cross = torch.zeros(x.shape[1], num_classes, dtype=torch.float64)
        for where, block in blocks(x):
            cross += block.double().T @ (one_hot(target[where], num_classes).double() - prior)
        return cls(variances, cross / num_rows, prior, num_rows)

    def solve(self, ridge: float) -> Discriminant:
        """Minimise (1/n) sum_i ||y_i - prior - W'x_i||^2 + ridge ||W||_F^2; cost r K.

        Args:
            ridge: Penalty, > 0, in units of variance.
        """
        return Discriminant(self.cross / (self.variances + ridge)[:, None], self.prior, ridge)

    def leave_one_out(
        self,
        x: Float32[Tensor, "n r"] | RowFile,
        target: Int64[Tensor, " n"],
        *,
        ridge: float,
        byte_budget: int = DEFAULT_BYTE_BUDGET,
    ) -> Float64[Tensor, "n K"] | RowFile:
        """Return each training row's scores by the discriminant of all other rows, without refitting.

        For a linear smoother with leverages h_i the residual without row i is (y_i - f_i) / (1 - h_i) (Allen 1974). Exact for given
        coordinates and with the mean refitted, whose share of the leverage is 1/n. Scores are relative to the priors of all rows.

        Args:
            x: The training rows.
            target: Their class indices.
            ridge: The strength.
            byte_budget: Memory to aim for; scores that do not fit are put into a file.
        """
        solved, num_classes = self.solve(ridge), self.cross.shape[1]

        def without(block: Float32[Tensor, "b r"], truth: Int64[Tensor, " b"]) -> Float64[Tensor, "b K"]:
            indicator = one_hot(truth, num_classes).double() - self.prior
            leverage = (block.double().square() @ (1.0 / (self.variances + ridge)) + 1.0) / self.num_rows
            residual = indicator - solved.scores(block)
            return indicator - residual / (1.0 - leverage).clamp(min=1e-9)[:, None]

        return mapped(without, x, target, width=num_classes, byte_budget=byte_budget, dtype=torch.float64)
