"""Softmax regression on coordinates as they are: no second standardisation, so that scaled layers stay scaled.

n = rows, r = coordinates, P = strengths, K = classes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from jaxtyping import Bool, Float32, Float64, Int64
from torch import Tensor

from vitgeom.probes.basis import EigenBasis
from vitgeom.probes.memory import chunk_rows
from vitgeom.probes.newton import solve
from vitgeom.probes.objective import SoftmaxObjective
from vitgeom.probes.standardise import Standardiser


@dataclass(frozen=True, eq=False)
class LinearPath:
    """One solution per strength.

    Attributes:
        l2: Strengths.
        weight: Coefficients on the coordinates.
        bias: Intercepts.
        converged: Whether the tolerance was reached.
    """

    l2: Float64[Tensor, " P"]
    weight: Float64[Tensor, "P r K"]
    bias: Float64[Tensor, "P K"]
    converged: Bool[Tensor, " P"]

    def logits(self, x: Float32[Tensor, "n r"]) -> Float64[Tensor, "n P K"]:
        """Return the logits of every strength."""
        inner = self.weight.transpose(0, 1).reshape(x.shape[1], -1)
        return (x.double() @ inner).view(len(x), *self.bias.shape) + self.bias


def fit_penalised_linear(
    x: Float32[Tensor, "n r"],
    target: Int64[Tensor, " n"],
    *,
    variances: Float64[Tensor, " r"],
    num_classes: int,
    l2: Float64[Tensor, " P"],
    tol: float = 1e-4,
    max_iter: int = 100,
) -> LinearPath:
    """Minimise mean cross-entropy + (lambda_p / 2) ||W||_F^2 on uncorrelated coordinates, bias not penalised.

    Args:
        x: Coordinates along principal axes: centred and uncorrelated over the training rows.
        target: Class indices 0..K-1.
        variances: Mean square of each coordinate.
        num_classes: K.
        l2: Strengths, > 0.
        tol: Relative gradient norm. Choices by validation need no more than 1e-4.
        max_iter: Most Newton steps per strength.
    """
    if not x.shape[1]:
        # Nothing varies: one empty coordinate, so that the solver has a weight, leaves the biases.
        padded = fit_penalised_linear(
            x.new_zeros(len(x), 1),
            target,
            variances=variances.new_zeros(1),
            num_classes=num_classes,
            l2=l2,
            tol=tol,
            max_iter=max_iter,
        )
        return replace(padded, weight=padded.weight[:, :0])
    rank = x.shape[1]
    same = Standardiser(torch.zeros(rank, dtype=torch.float64), torch.ones(rank, dtype=torch.float64))
    basis = EigenBasis(torch.eye(rank, dtype=torch.float64), variances)
    ones = torch.ones(len(x), 1)
    objective = SoftmaxObjective(
        x,
        target,
        same,
        basis,
        ones.double(),
        num_classes,
        chunk_rows(width=rank, columns=len(l2) * num_classes),
    )
    solution = solve(
        objective,
        torch.cat([x, ones], dim=1),
        l2=l2,
        problems=torch.arange(len(l2)),
        tol=tol,
        max_iter=max_iter,
    )
    weight = solution.coef[:, :, :-1].transpose(1, 2).contiguous()
    bias = solution.coef[:, :, -1]
    return LinearPath(l2, weight, bias - bias.mean(dim=1, keepdim=True), solution.converged)
