"""From the straight line downhill to a path of least energy.   Q = inner points, N = tokens, D = width."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float, Float64
from torch import Tensor

from vitgeom.metric.path_coordinates import PathCoordinates
from vitgeom.metric.path_energy import PathEnergy

HISTORY = 10
SEARCH = 25
"""Evaluations that torch allows one line search."""


@dataclass(frozen=True)
class Descent:
    """Where the minimisation ended.

    Attributes:
        z_QND: Coordinates of the path of least energy that was seen; zero is the straight line.
        steps_S: Its output steps.
        straight_S: Those of the straight line.
        converged: Whether it stopped by itself.
        iterations: Taken.
    """

    z_QND: Float[Tensor, "q n d"]
    steps_S: Float64[Tensor, " s"]
    straight_S: Float64[Tensor, " s"]
    converged: bool
    iterations: int


class _Watched:
    """The energy in units of the straight line's, as torch's optimiser calls it, with the best path so far."""

    def __init__(self, energy: PathEnergy, coordinates: PathCoordinates) -> None:
        self._energy, self._coordinates = energy, coordinates
        self.z_QND = torch.zeros_like(coordinates.line_QND)
        self.straight_S, gradient = energy.steps(coordinates.line_QND)
        self.unit = float(self.straight_S.square().sum())
        self.best_QND, self.steps_S, self._least = self.z_QND.clone(), self.straight_S, 1.0
        self._first: tuple[float, Tensor] | None = (1.0, gradient)

    def __call__(self) -> float:
        # The optimiser asks for the straight line first, which is known.
        value, gradient = self._first or self._evaluate()
        self._first = None
        self.z_QND.grad = self._coordinates.pulled(gradient) / self.unit
        return value

    def _evaluate(self) -> tuple[float, Tensor]:
        steps_S, gradient = self._energy.steps(self._coordinates.points(self.z_QND.detach()))
        value = float(steps_S.square().sum()) / self.unit
        if value < self._least:
            self.best_QND, self.steps_S, self._least = self.z_QND.detach().clone(), steps_S, value
        return value, gradient


def descend(energy: PathEnergy, coordinates: PathCoordinates, *, max_iterations: int, tol: float) -> Descent:
    """Minimise by L-BFGS with a line search (strong Wolfe conditions) from the straight line on.

    It stops where an iteration lowers the energy, or promises to, by less than ``tol`` of the straight line's. A straight line without energy is least.

    Args:
        energy: Of paths.
        coordinates: Of their inner points.
        max_iterations: >= 1.
        tol: In (0, 1).

    Raises:
        NumericalFailure: The decoder's output is not finite somewhere on a path.
    """
    with torch.inference_mode(False):
        watched = _Watched(energy, coordinates)
        iterations = 0 if watched.unit == 0 else _run(watched, max_iterations=max_iterations, tol=tol)
    return Descent(
        z_QND=watched.best_QND,
        steps_S=watched.steps_S,
        straight_S=watched.straight_S,
        converged=iterations < max_iterations,
        iterations=iterations,
    )


def _run(watched: _Watched, *, max_iterations: int, tol: float) -> int:
    optimiser = torch.optim.LBFGS(
        [watched.z_QND],
        max_iter=max_iterations,
        max_eval=max_iterations * SEARCH,
        tolerance_grad=0.0,
        tolerance_change=tol,
        history_size=HISTORY,
        line_search_fn="strong_wolfe",
    )
    optimiser.step(watched)
    return int(optimiser.state[watched.z_QND].get("n_iter", 0))
