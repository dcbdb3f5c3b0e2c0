"""Super Learner and logistic stacking as one would write them with scikit-learn and scipy."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression


def standardised(x: np.ndarray, mean_of: np.ndarray) -> np.ndarray:
    return (x - mean_of.mean(axis=0)) / mean_of.std(axis=0)


def logistic(z: np.ndarray, y: np.ndarray, *, l2: float) -> LogisticRegression:
    """Mean cross-entropy + l2/2 ||W||^2 in scikit-learn's terms."""
    return LogisticRegression(C=1 / (len(z) * l2), tol=1e-8, max_iter=5000).fit(z, y)


def held_out_log_probabilities(
    x: np.ndarray, y: np.ndarray, fold: np.ndarray, *, l2: list[float], num_classes: int
) -> np.ndarray:
    """``[n, L, K]``: fold by fold, layer by layer; a class that the other folds lack has probability 0."""
    out = np.full((len(x), x.shape[1], num_classes), -np.inf)
    for layer, strength in enumerate(l2):
        z = standardised(x[:, layer].astype(np.float64), x[:, layer].astype(np.float64))
        for held in np.unique(fold):
            model = logistic(z[fold != held], y[fold != held], l2=strength)
            rows = np.flatnonzero(fold == held)
            out[np.ix_(rows, [layer], model.classes_)] = model.predict_log_proba(z[rows])[:, None]
    return out


def convex_weights(p: np.ndarray) -> np.ndarray:
    """Weights on the simplex with the least mean -log(p w), by a general-purpose solver."""
    count = p.shape[1]
    found = minimize(
        lambda w: -np.log(p @ w).mean(),
        np.full(count, 1 / count),
        jac=lambda w: -(p / (p @ w)[:, None]).mean(axis=0),
        bounds=[(0, 1)] * count,
        constraints=[{"type": "eq", "fun": lambda w: w.sum() - 1, "jac": lambda w: np.ones(count)}],
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 1000},
    )
    assert found.success, found.message
    return found.x
