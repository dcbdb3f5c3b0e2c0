"""Multinomial logistic regression the slow way: explicit objective, gradient and Hessian, damped Newton, float64."""

from __future__ import annotations

import numpy as np


def standardise(x: np.ndarray, weight: np.ndarray | None = None) -> np.ndarray:
    """Columns with mean 0 and population deviation 1; columns that never change become 0."""
    x = x.astype(np.float64)
    weight = np.ones(len(x)) if weight is None else weight
    mean = np.average(x, axis=0, weights=weight)
    std = np.sqrt(np.average((x - mean) ** 2, axis=0, weights=weight))
    std[x.max(axis=0) == x.min(axis=0)] = np.inf
    return (x - mean) / std


def probabilities(z: np.ndarray, w: np.ndarray, b: np.ndarray) -> np.ndarray:
    logits = z @ w + b
    e = np.exp(logits - logits.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def objective(
    z: np.ndarray, y: np.ndarray, w: np.ndarray, b: np.ndarray, lam: float, weight: np.ndarray | None = None
) -> float:
    """Weighted mean cross-entropy + lam/2 ||W||^2, one row after the other."""
    weight = np.ones(len(z)) if weight is None else weight
    total = 0.0
    for row, label, share in zip(z, y, weight / weight.sum(), strict=True):
        logits = row @ w + b
        top = logits.max()
        total += share * (top + np.log(np.exp(logits - top).sum()) - logits[label])
    return float(total + 0.5 * lam * (w**2).sum())


def gradient(
    z: np.ndarray, y: np.ndarray, w: np.ndarray, b: np.ndarray, lam: float, weight: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Gradient with respect to W and b."""
    weight = np.ones(len(z)) if weight is None else weight
    share = (weight / weight.sum())[:, None]
    residual = (probabilities(z, w, b) - np.eye(w.shape[1])[y]) * share
    return z.T @ residual + lam * w, residual.sum(axis=0)


def hessian(
    z: np.ndarray, w: np.ndarray, b: np.ndarray, lam: float, weight: np.ndarray | None = None
) -> np.ndarray:
    """The full matrix for the unknowns [W; b] flattened row by row, ``[(D+1) K, (D+1) K]``."""
    weight = np.ones(len(z)) if weight is None else weight
    num_classes = w.shape[1]
    order = (z.shape[1] + 1) * num_classes
    total = np.zeros((order, order))
    for row, p, share in zip(z, probabilities(z, w, b), weight / weight.sum(), strict=True):
        wide = np.append(row, 1.0)
        total += share * np.kron(np.outer(wide, wide), np.diag(p) - np.outer(p, p))
    penalised = order - num_classes
    total[np.arange(penalised), np.arange(penalised)] += lam
    return total


def solve(
    z: np.ndarray, y: np.ndarray, lam: float, *, num_classes: int, weight: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Damped Newton to a gradient of 1e-12; the constant over classes is removed from b."""
    w, b = np.zeros((z.shape[1], num_classes)), np.zeros(num_classes)
    for _ in range(200):
        slope = np.vstack([part.reshape(-1, num_classes) for part in gradient(z, y, w, b, lam, weight)])
        if np.linalg.norm(slope) < 1e-12:
            break
        step = -(np.linalg.pinv(hessian(z, w, b, lam, weight), rcond=1e-13) @ slope.ravel()).reshape(
            slope.shape
        )
        before, length = objective(z, y, w, b, lam, weight), 1.0
        while (
            objective(z, y, w + length * step[:-1], b + length * step[-1], lam, weight) > before
            and length > 1e-6
        ):
            length /= 2
        w, b = w + length * step[:-1], b + length * step[-1]
    return w, b - b.mean()
