"""Softmax regression on coordinates as they are: no second standardisation, so that scaled layers stay scaled.

n = rows, r = coordinates, q = r + 1, P = strengths, K = classes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from jaxtyping import Bool, Float32, Float64, Int64
from torch import Tensor

from vitgeom.fusion.staged_rows import mapped, release
from vitgeom.probes.basis import EigenBasis
from vitgeom.probes.memory import CHUNK_BYTES, DEFAULT_BYTE_BUDGET, chunk_rows, stream_chunk_bytes
from vitgeom.probes.newton import solve
from vitgeom.probes.objective import SoftmaxObjective
from vitgeom.probes.row_file import RowFile
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

    def of(self, number: int) -> LinearPath:
        """Return one of the solutions."""
        some = slice(number, number + 1)
        return LinearPath(self.l2[some], self.weight[some], self.bias[some], self.converged[some])

    def logits(self, x: Float32[Tensor, "n r"]) -> Float64[Tensor, "n P K"]:
        """Return the logits of every strength."""
        inner = self.weight.transpose(0, 1).reshape(x.shape[1], self.bias.numel())
        return (x.double() @ inner).view(len(x), *self.bias.shape) + self.bias


def fit_penalised_linear(
    features: Float32[Tensor, "n q"] | RowFile,
    target: Int64[Tensor, " n"],
    *,
    variances: Float64[Tensor, " r"],
    num_classes: int,
    l2: Float64[Tensor, " P"],
    tol: float = 1e-4,
    max_iter: int = 100,
    start: LinearPath | None = None,
    byte_budget: int = DEFAULT_BYTE_BUDGET,
) -> LinearPath:
    """Minimise mean cross-entropy + (lambda_p / 2) ||W||_F^2 on uncorrelated coordinates, bias not penalised.

    Args:
        features: Coordinates along principal axes (centred and uncorrelated over the training rows), with a last column of
            ones. Those in a file are read block by block in every product, and nothing of size n is kept.
        target: Class indices 0..K-1.
        variances: Mean square of each coordinate.
        num_classes: K.
        l2: Strengths, > 0.
        tol: Relative gradient norm. Choices by validation need no more than 1e-3.
        max_iter: Most Newton steps per strength.
        start: A rougher solution of the same strengths, to go on from; None to start at zero.
        byte_budget: Of which blocks of a file take a part.
    """
    if not len(variances):
        # Nothing varies: one empty coordinate, so that the solver has a weight, leaves the biases.
        wide = _with_an_empty_coordinate(features)
        padded = fit_penalised_linear(
            wide,
            target,
            variances=variances.new_zeros(1),
            num_classes=num_classes,
            l2=l2,
            tol=tol,
            max_iter=max_iter,
            byte_budget=byte_budget,
        )
        release(wide)
        return replace(padded, weight=padded.weight[:, :0])
    streamed, rank = isinstance(features, RowFile), len(variances)
    # A file's column of ones meets a row of zeros in the basis; one in memory is left out without a copy.
    width = rank + 1 if streamed else rank
    same = Standardiser(torch.zeros(width, dtype=torch.float64), torch.ones(width, dtype=torch.float64))
    basis = EigenBasis(torch.eye(width, rank, dtype=torch.float64), variances)
    chunk_bytes = stream_chunk_bytes(byte_budget) if streamed else CHUNK_BYTES
    objective = SoftmaxObjective(
        features if isinstance(features, RowFile) else features[:, :-1],
        target,
        same,
        basis,
        torch.ones(len(features), 1, dtype=torch.float64),
        num_classes,
        chunk_rows(width=rank, columns=len(l2) * num_classes, chunk_bytes=chunk_bytes),
        keep_probability=not streamed,
    )
    solution = solve(
        objective,
        features,
        l2=l2,
        problems=torch.arange(len(l2)),
        tol=tol,
        max_iter=max_iter,
        start=None if start is None else _coefficients(start),
    )
    weight = solution.coef[:, :, :-1].transpose(1, 2).contiguous()
    bias = solution.coef[:, :, -1]
    return LinearPath(l2, weight, bias - bias.mean(dim=1, keepdim=True), solution.converged)


def _coefficients(path: LinearPath) -> Float64[Tensor, "P K q"]:
    """Return weights and intercepts as the solver keeps them."""
    return torch.cat([path.weight.transpose(1, 2), path.bias[:, :, None]], dim=2)


def _with_an_empty_coordinate(features: Float32[Tensor, "n 1"] | RowFile) -> Float32[Tensor, "n 2"] | RowFile:
    """Return zeros beside the column of ones, where that lies."""
    if isinstance(features, Tensor):
        return _zero_first(features)
    return mapped(_zero_first, features, width=2, byte_budget=0)


def _zero_first(ones: Float32[Tensor, "b 1"]) -> Float32[Tensor, "b 2"]:
    return torch.cat([torch.zeros_like(ones), ones], dim=1)
