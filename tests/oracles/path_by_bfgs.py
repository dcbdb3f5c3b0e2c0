"""A path of least energy by dense BFGS over every entry of every inner point, derivatives by central differences."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import torch
from scipy.optimize import minimize
from torch import Tensor


@torch.no_grad()
def path_by_bfgs(
    decoder: Callable[[Tensor], Tensor], start: Tensor, end: Tensor, *, num_points: int
) -> tuple[float, float]:
    """Return energy and length of the path found from the straight line on, in float64."""
    shares = [index / (num_points - 1) for index in range(1, num_points - 1)]
    line = np.concatenate([((1 - s) * start + s * end).flatten().numpy() for s in shares])

    def steps(entries: np.ndarray) -> list[float]:
        inner = torch.from_numpy(entries).reshape(-1, *start.shape)
        points = [start, *inner, end]
        return [
            float((decoder(after) - decoder(before)).norm()) for before, after in itertools.pairwise(points)
        ]

    def energy(entries: np.ndarray) -> float:
        return sum(step**2 for step in steps(entries))

    found = minimize(energy, line, method="BFGS", jac="3-point", options={"gtol": 1e-6, "maxiter": 200})
    return float(found.fun), sum(steps(found.x))
