"""All probes of one layer: standardise, turn into the eigenbasis, solve, turn back.

n = rows, D = width, P = problems (strengths, or refits), K = classes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Float, Float64, Int64
from torch import Tensor

from vitgeom.errors import InvalidInput
from vitgeom.probes.basis import eigenbasis, rotated_features
from vitgeom.probes.memory import DEFAULT_BYTE_BUDGET, chunk_rows, problems_at_once
from vitgeom.probes.newton import Solution, solve
from vitgeom.probes.objective import SoftmaxObjective
from vitgeom.probes.standardise import Standardiser, fit_standardiser


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
    x: Float[Tensor, "n D"],
    target: Int64[Tensor, " n"],
    *,
    num_classes: int,
    l2: Float64[Tensor, " P"],
    tol: float = 1e-6,
    max_iter: int = 100,
    sample_weight: Float64[Tensor, "n w"] | None = None,
    byte_budget: int = DEFAULT_BYTE_BUDGET,
) -> LayerFit:
    """Fit P multinomial logistic regressions with L2 on the same features.

    Minimises mean cross-entropy + (lambda_p / 2) ||W||_F^2 on standardised features, bias not penalised. Note on K = 2:
    both classes have their own weights, so a binary solver with one weight vector matches at half the penalty.

    Args:
        x: Raw features, finite.
        target: Class indices 0..K-1.
        num_classes: K.
        l2: One penalty per problem, > 0.
        tol: Relative gradient norm ``||grad|| / ||grad at zero||`` to reach, certified in float64.
        max_iter: Most Newton steps per problem.
        sample_weight: Non-negative row weights, one column for all problems or one per problem; each column is scaled to
            mean 1. With one shared column the standardisation is weighted too; with a column per problem (refits on
            resamples) all problems share the unweighted standardisation.
        byte_budget: Problems are solved in batches that fit; see :mod:`vitgeom.probes.memory`.

    Raises:
        InvalidInput: A penalty is not positive, a weight column is unusable, or ``tol`` / ``max_iter`` are out of range.
    """
    _check_settings(l2, tol=tol, max_iter=max_iter)
    weight = _row_weights(sample_weight, num_rows=len(x), num_problems=len(l2)).to(x.device)
    shared = weight[:, 0] if sample_weight is not None and weight.shape[1] == 1 else None
    standardiser = fit_standardiser(x, weight=shared)
    batch = problems_at_once(
        num_rows=len(x), width=x.shape[1], num_classes=num_classes, byte_budget=byte_budget
    )
    rows = chunk_rows(width=x.shape[1], columns=min(batch, len(l2)) * num_classes)
    basis = eigenbasis(x, standardiser=standardiser, chunk_rows=rows)
    features = rotated_features(x, standardiser=standardiser, basis=basis, chunk_rows=rows)
    objective = SoftmaxObjective(x, target.to(x.device), standardiser, basis, weight, num_classes, rows)
    l2 = l2.to(x.device)
    parts = [
        solve(objective, features, l2=l2[some], problems=some, tol=tol, max_iter=max_iter)
        for some in torch.arange(len(l2), device=x.device).split(batch)
    ]
    return _assemble(parts, standardiser=standardiser, directions=basis.directions)


def _assemble(
    parts: list[Solution], *, standardiser: Standardiser, directions: Float64[Tensor, "D r"]
) -> LayerFit:
    """Turn the solutions back from the basis and put the batches side by side."""
    coef = torch.cat([part.coef for part in parts], dim=1)
    turned = directions @ coef[:-1].reshape(len(coef) - 1, -1)
    weight = turned.view(len(turned), *coef.shape[1:]).transpose(0, 1).contiguous()
    bias = coef[-1] - coef[-1].mean(dim=1, keepdim=True)
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


def _row_weights(
    sample_weight: Float64[Tensor, "n w"] | None, *, num_rows: int, num_problems: int
) -> Float64[Tensor, "n w"]:
    """Return weights ``[n, 1]`` or ``[n, P]`` with mean 1 per column."""
    if sample_weight is None:
        return torch.ones(num_rows, 1, dtype=torch.float64)
    if len(sample_weight) != num_rows or sample_weight.shape[1] not in (1, num_problems):
        raise InvalidInput(
            f"sample_weight must have shape [{num_rows}] or [{num_rows}, {num_problems}], "
            f"got {list(sample_weight.shape)}."
        )
    total = sample_weight.sum(dim=0)
    if not bool(torch.isfinite(total).all()) or bool((sample_weight < 0).any()) or bool((total <= 0).any()):
        raise InvalidInput("sample_weight must be finite, non-negative and not all zero in any column.")
    return sample_weight * (num_rows / total)
