"""Weights of a mixture that maximise its likelihood: EM steps sped up by sequential quadratic programming.

Kim, Carbonetto, Stephens and Anitescu 2020. n = rows, L = components (layers), p_il = probability that layer l gave the truth in row i.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float64
from scipy.optimize import nnls
from torch import Tensor

from vitgeom.errors import InvalidInput
from vitgeom.fusion.staged_rows import blocks
from vitgeom.probes.row_file import RowFile

TOLERANCE = 1e-8
MAX_STEPS = 1000
_RIDGE = 1e-10
_HALVINGS = 30


@dataclass(frozen=True, eq=False)
class MixtureWeights:
    """The weights with their certificate.

    Attributes:
        weight: Non-negative, sum 1.
        gap: Log-loss of these weights minus the least possible one is at most this, in nats.
        steps: Steps taken.
    """

    weight: Float64[Tensor, " L"]
    gap: float
    steps: int


def mixture_weights(
    probability: Float64[Tensor, "n L"] | RowFile, *, tol: float = TOLERANCE, max_steps: int = MAX_STEPS
) -> MixtureWeights:
    """Minimise F(w) = -mean_i log sum_l w_l p_il over w >= 0, sum w = 1.

    F is convex, and max_l mean_i p_il / sum_j w_j p_ij - 1 >= F(w) - min F certifies how close w is. Each step is an EM step
    w_l <- w_l mean_i p_il / sum_j w_j p_ij, which never makes F larger, then the minimiser of the quadratic model over w >= 0 (a
    non-negative least-squares problem of order L) with a line search. Cost per step: about n L (L + 4) products.

    Args:
        probability: p, positive; a file is read some times per step.
        tol: Gap to stop at.
        max_steps: Most steps; the gap says how good the weights are then.

    Raises:
        InvalidInput: A probability is not positive and finite.
    """
    for _, block in blocks(probability):
        if not bool(((block > 0) & torch.isfinite(block)).all()):
            raise InvalidInput(
                "probability must be positive and finite; give what a layer rules out a small floor."
            )
    p = probability
    w = np.full(p.shape[1], 1 / p.shape[1])
    steps = 0
    while (share := _shares(p, w)).max() - 1 > tol and steps < max_steps:
        w = _quadratic_step(p, w * share)
        steps += 1
    return MixtureWeights(torch.from_numpy(w), float(share.max() - 1), steps)


def _arrays(p: Tensor | RowFile) -> Iterator[np.ndarray]:
    """Yield all rows in order."""
    for _, block in blocks(p):
        yield block.numpy()


def _shares(p: Tensor | RowFile, w: np.ndarray) -> np.ndarray:
    """Return mean_i p_il / sum_j w_j p_ij of each component."""
    return sum((part / (part @ w)[:, None]).sum(axis=0) for part in _arrays(p)) / len(p)


def _loss(p: Tensor | RowFile, w: np.ndarray) -> float:
    return float(sum(-np.log(part @ w).sum() for part in _arrays(p)) / len(p))


def _model(p: Tensor | RowFile, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return Hessian A'A and 2 A'u - 1."""
    hessian, product = np.zeros((len(w), len(w))), np.zeros(len(w))
    for part in _arrays(p):
        a = part / ((part @ w)[:, None] * np.sqrt(len(p)))
        hessian += a.T @ a
        product += a.T @ np.full(len(part), 1 / np.sqrt(len(p)))
    return hessian, 2 * product - 1


def _quadratic_step(p: Tensor | RowFile, w: np.ndarray) -> np.ndarray:
    """Go towards the minimiser of the quadratic model of F(w) + sum w, whose minimum over w >= 0 is that of F on the simplex.

    With a_il = p_il / (sqrt(n) sum_j w_j p_ij): gradient 1 - A'u (u = A w, all entries 1/sqrt(n)), Hessian A'A, so the model is
    minimal where w' A'A w / 2 - (2 A'u - 1)' w is.
    """
    hessian, slope = _model(p, w)
    # Equal layers make the model flat: the ridge is centred at w, so that it holds the step and not the weights down.
    ridge = _RIDGE * np.trace(hessian)
    lower = np.linalg.cholesky(hessian + ridge * np.eye(len(w)))
    wanted = nnls(lower.T, np.linalg.solve(lower, slope + ridge * w))[0]
    before, length = _loss(p, w), 1.0
    if wanted.sum() <= 0:
        return w
    wanted /= wanted.sum()
    for _ in range(_HALVINGS):
        new = (1 - length) * w + length * wanted
        if _loss(p, new) <= before:
            return new
        length /= 2
    return w
