"""Leave-one-out by refitting without each row in turn."""

from __future__ import annotations

import numpy as np


def ridge_scores_without_row(x: np.ndarray, indicator: np.ndarray, *, penalty: float) -> np.ndarray:
    """Return the prediction of each row by ridge regression with an intercept on all other rows.

    Minimises the sum over the other rows of ||y - a - W'x||^2 + penalty ||W||^2 by the normal equations.
    """
    num_rows, width = x.shape
    out = np.empty_like(indicator)
    design = np.hstack([x, np.ones((num_rows, 1))])
    penalties = np.diag([penalty] * width + [0.0])
    for row in range(num_rows):
        rest = np.arange(num_rows) != row
        gram = design[rest].T @ design[rest] + penalties
        out[row] = design[row] @ np.linalg.solve(gram, design[rest].T @ indicator[rest])
    return out
