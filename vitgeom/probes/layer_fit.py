"""All probes of one layer: standardise, turn into the eigenbasis, solve, turn back.

n = rows, D = width, P = problems (strengths, or refits), K = classes.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Float, Float32, Float64, Int64
from torch import Tensor

from vitgeom.errors import InvalidInput
from vitgeom.probes.basis import EigenBasis, eigenbasis, rotated_features, rotated_file
from vitgeom.probes.fold_weights import FoldWeights, RowWeights
from vitgeom.probes.memory import (
    DEFAULT_BYTE_BUDGET,
    chunk_rows,
    fits_in_memory,
    problems_at_once,
    stream_chunk_bytes,
    streamed_problems_at_once,
)
from vitgeom.probes.newton import Solution, solve
from vitgeom.probes.objective import SoftmaxObjective
from vitgeom.probes.row_file import RowFile, Rows
from vitgeom.probes.standardise import Standardiser, fit_standardiser, stream_standardiser


@dataclass(frozen=True, eq=False)
class LayerFit:
    """Solved probes of one layer, on the CPU, acting on standardised features.

    Attributes:
        standardiser: Column means and deviations of the training rows.
        weight: Coefficients.
        bias: Intercepts; they sum to 0 over classes.
        objective: Mean cross-entropy plus penalty on the training rows.
        grad_norm: Relative gradient norm (float64).
        converged: Whether it reached the tolerance.
        iterations: Newton steps.
        products: Hessian products spent on the layer.
    """

    standardiser: Standardiser
    weight: Float64[Tensor, "P D K"]
    bias: Float64[Tensor, "P K"]
    objective: Float64[Tensor, " P"]
    grad_norm: Float64[Tensor, " P"]
    converged: Bool[Tensor, " P"]
    iterations: Int64[Tensor, " P"]
    products: int

    def logits(self, x: Float[Tensor, "n D"], *, problem: int) -> Float64[Tensor, "n K"]:
        """Return the logits of one problem's probe on raw features."""
        return self.standardiser(x.cpu()) @ self.weight[problem] + self.bias[problem]


def fit_layer(
    x: Rows,
    target: Int64[Tensor, " n"],
    *,
    num_classes: int,
    l2: Float64[Tensor, " P"],
    tol: float = 1e-6,
    max_iter: int = 100,
    sample_weight: RowWeights | None = None,
    byte_budget: int = DEFAULT_BYTE_BUDGET,
) -> LayerFit:
    """Fit P multinomial logistic regressions with L2 on the same features.

    Minimises mean cross-entropy + (lambda_p / 2) ||W||_F^2 on standardised features, bias not penalised. Note on K = 2:
    both classes have their own weights, so a binary solver with one weight vector matches at half the penalty.

    Features in a file, and those on the CPU whose working set exceeds ``byte_budget``, are streamed: turned features lie
    in a temporary file of ``4 n (min(n, D) + 1)`` bytes, class probabilities are computed anew in every product, and
    memory does not grow with n beyond a label and a weight per row. The solution has the same certificates; it takes
    about twice as long.

    Args:
        x: Raw features, finite, in memory or in a file.
        target: Class indices 0..K-1.
        num_classes: K.
        l2: One penalty per problem, > 0.
        tol: Relative gradient norm ``||grad|| / ||grad at zero||`` to reach, certified in float64.
        max_iter: Most Newton steps per problem.
        sample_weight: Non-negative row weights, one column for all problems, one per problem, or by fold
            (:class:`vitgeom.probes.fold_weights.FoldWeights`); each column is scaled to mean 1. With one shared column the
            standardisation is weighted too; with a column per problem (refits on resamples, folds) all problems share the
            unweighted standardisation.
        byte_budget: Problems are solved in batches that fit; see :mod:`vitgeom.probes.memory`.

    Raises:
        InvalidInput: A penalty is not positive, a weight column is unusable, or ``tol`` / ``max_iter`` are out of range.
        ResourceShortage: The temporary file cannot be written.
    """
    _check_settings(l2, tol=tol, max_iter=max_iter)
    weight = _row_weights(sample_weight, num_rows=len(x), num_problems=len(l2)).to(x.device)
    shared = None
    if isinstance(weight, Tensor) and sample_weight is not None and weight.shape[1] == 1:
        shared = weight[:, 0]
    streamed = is_streamed(x, num_classes=num_classes, byte_budget=byte_budget)
    batch, rows = _batch_and_rows(x, num_classes, len(l2), byte_budget=byte_budget, streamed=streamed)
    if isinstance(x, RowFile):
        standardiser = stream_standardiser(x, weight=shared, chunk_rows=rows)
    else:
        standardiser = fit_standardiser(x, weight=shared)
    basis = eigenbasis(x, standardiser=standardiser, chunk_rows=rows)
    objective = SoftmaxObjective(
        x, target.to(x.device), standardiser, basis, weight, num_classes, rows, keep_probability=not streamed
    )
    l2 = l2.to(x.device)
    with _turned(x, standardiser, basis, rows, streamed=streamed) as features:
        parts = [
            solve(objective, features, l2=l2[some], problems=some, tol=tol, max_iter=max_iter)
            for some in torch.arange(len(l2), device=x.device).split(batch)
        ]
    return _assemble(parts, standardiser=standardiser, directions=basis.directions)


def is_streamed(x: Rows, *, num_classes: int, byte_budget: int) -> bool:
    """Say whether :func:`fit_layer` solves these features from a file rather than in memory.

    Args:
        x: Features; what lies in the memory of another device is solved there.
        num_classes: K.
        byte_budget: Memory to aim for.
    """
    if isinstance(x, RowFile):
        return True
    num_rows, width = x.shape
    return x.device.type == "cpu" and not fits_in_memory(
        num_rows=num_rows, width=width, num_classes=num_classes, byte_budget=byte_budget
    )


def _batch_and_rows(
    x: Rows, num_classes: int, num_problems: int, *, byte_budget: int, streamed: bool
) -> tuple[int, int]:
    """Return how many problems to solve together, and how many rows to hold in float64 meanwhile."""
    num_rows, width = x.shape
    count = streamed_problems_at_once if streamed else problems_at_once
    batch = count(num_rows=num_rows, width=width, num_classes=num_classes, byte_budget=byte_budget)
    columns = min(batch, num_problems) * num_classes
    if not streamed:
        return batch, chunk_rows(width=width, columns=columns)
    return batch, chunk_rows(width=width, columns=columns, chunk_bytes=stream_chunk_bytes(byte_budget))


@contextmanager
def _turned(
    x: Rows, standardiser: Standardiser, basis: EigenBasis, rows: int, *, streamed: bool
) -> Iterator[Float32[Tensor, "n q"] | RowFile]:
    """Give the features in the basis, from a file that is removed afterwards if they are streamed."""
    if not streamed:
        assert isinstance(x, Tensor), "features in a file are always streamed"
        yield rotated_features(x, standardiser=standardiser, basis=basis, chunk_rows=rows)
        return
    with rotated_file(x, standardiser=standardiser, basis=basis, chunk_rows=rows) as file:
        yield file


def _assemble(
    parts: list[Solution], *, standardiser: Standardiser, directions: Float64[Tensor, "D r"]
) -> LayerFit:
    """Turn the solutions back from the basis and put the batches side by side."""
    coef = torch.cat([part.coef for part in parts])
    weight = (directions @ coef[:, :, :-1].transpose(1, 2)).contiguous()
    bias = coef[:, :, -1] - coef[:, :, -1].mean(dim=1, keepdim=True)
    return LayerFit(
        standardiser=standardiser,
        weight=weight.cpu(),
        bias=bias.cpu(),
        objective=torch.cat([part.value for part in parts]).cpu(),
        grad_norm=torch.cat([part.grad_norm for part in parts]).cpu(),
        converged=torch.cat([part.converged for part in parts]).cpu(),
        iterations=torch.cat([part.iterations for part in parts]).cpu(),
        products=sum(part.products for part in parts),
    )


def _check_settings(l2: Float64[Tensor, " P"], *, tol: object, max_iter: object) -> None:
    if len(l2) == 0 or not bool(((l2 > 0) & torch.isfinite(l2)).all()):
        raise InvalidInput(
            f"l2 must hold positive finite strengths, got {l2.tolist()}; without a penalty separable data has no "
            "optimum, so use a small one such as 1e-6."
        )
    if not isinstance(tol, int | float | np.floating) or not 0 < tol < 1:
        raise InvalidInput(f"tol must lie strictly between 0 and 1, got {tol!r}; 1e-6 is the default.")
    if not isinstance(max_iter, int | np.integer) or isinstance(max_iter, bool) or max_iter < 1:
        raise InvalidInput(f"max_iter must be an integer >= 1, got {max_iter!r}; 100 is the default.")


def _row_weights(sample_weight: RowWeights | None, *, num_rows: int, num_problems: int) -> RowWeights:
    """Return weights with mean 1 per column."""
    if sample_weight is None:
        return torch.ones(num_rows, 1, dtype=torch.float64)
    wanted = (num_problems,) if isinstance(sample_weight, FoldWeights) else (1, num_problems)
    if len(sample_weight) != num_rows or sample_weight.shape[1] not in wanted:
        raise InvalidInput(
            f"sample_weight must have shape [{num_rows}] or [{num_rows}, {num_problems}], "
            f"got {list(sample_weight.shape)}."
        )
    if isinstance(sample_weight, FoldWeights):
        return sample_weight.scaled()
    total = sample_weight.sum(dim=0)
    if not bool(torch.isfinite(total).all()) or bool((sample_weight < 0).any()) or bool((total <= 0).any()):
        raise InvalidInput("sample_weight must be finite, non-negative and not all zero in any column.")
    return sample_weight * (num_rows / total)
