"""The shortest way between two feature maps as the decoder sees it (B15 of the methods).   P = points, N = tokens, D = width.

The pullback metric J^T J is local. Between two feature maps F_0 and F_{P-1} the discrete path that minimises

    E = sum_i ||T(F_{i+1}) - T(F_i)||^2

with both ends fixed approaches a geodesic of it as P grows: of all paths of a length the one of even speed has least energy, and then L^2 = (P - 1) E.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float, Float64
from torch import Tensor

from vitgeom.errors import InvalidInput
from vitgeom.metric.path_coordinates import PathCoordinates
from vitgeom.metric.path_descent import descend
from vitgeom.metric.path_energy import PathEnergy
from vitgeom.whole_numbers import whole_number


@dataclass(frozen=True)
class Geodesic:
    """A path of least energy beside the straight line, both with P points.

    Lengths are sums of output steps, so they are chords of the curve at the output and grow towards its length with P; a straight line of uneven speed falls shorter of
    its own than a geodesic does.

    Attributes:
        points: F_0 .. F_{P-1}.
        steps: ||T(F_{i+1}) - T(F_i)||, P - 1 of them.
        length: Their sum.
        straight_length: The same of F_0 + t (F_{P-1} - F_0) with even t.
        chord: ||T(F_{P-1}) - T(F_0)||: no path is shorter.
        energy: Sum of squared steps; never above ``straight_energy``.
        straight_energy: Of the straight line.
        converged: The last iteration lowered the energy by less than ``tol`` of the straight line's.
        iterations: Of the minimisation.
        evaluations: Of the decoder in all; each at an inner point comes with one product with J^T.
    """

    points: Float[Tensor, "p n d"]
    steps: Float64[Tensor, " s"]
    length: float
    straight_length: float
    chord: float
    energy: float
    straight_energy: float
    converged: bool
    iterations: int
    evaluations: int

    @property
    def ratio(self) -> float | None:
        """How much shorter: length / straight_length; None where the output does not move along the straight line."""
        return self.length / self.straight_length if self.straight_length > 0 else None

    def to_json(self) -> dict[str, Any]:
        """Return all but the points as plain JSON."""
        named = ("length", "straight_length", "chord", "energy", "straight_energy", "converged")
        counted = ("ratio", "iterations", "evaluations")
        return {"steps": self.steps.tolist()} | {name: getattr(self, name) for name in (*named, *counted)}


def geodesic(
    decoder: object,
    start: object,
    end: object,
    *,
    num_points: object,
    output_metric: object = None,
    max_iterations: object = 200,
    tol: object = 1e-5,
) -> Geodesic:
    """Minimise the energy of a path between two feature maps, from the straight line on, by L-BFGS in coordinates that P does not make stiff.

    Cost: P - 2 evaluations of the decoder with one product with J^T each, a little more than once per iteration; two graphs of the decoder are held at once. The minimum is
    one that lies downhill of the straight line; there may be others.

    Args:
        decoder: A frozen, differentiable function of [N, D], as for ``JacobianOperator``: ``cls_decoder(backbone, layer=10).at(image)``.
        start: F_0, finite float32 or float64.
        end: F_{P-1}, like it.
        num_points: P >= 3, ends included.
        output_metric: L, to measure ||L dT|| instead: None, a matrix [M', M] or an operator.
        max_iterations: Of the minimisation, >= 1.
        tol: Relative decrease of energy at which to stop, in (0, 1). Steps are differences of outputs: in float32 less than 1e-6 means nothing.

    Returns:
        The path of least energy that was seen, with ``converged=False`` where the iterations ran out.

    Raises:
        InvalidInput: Ends do not fit each other or the decoder, or a setting is out of range.
        NumericalFailure: The decoder's output is not finite somewhere on a path.
    """
    count = whole_number("num_points", num_points, at_least=3, way_out="16 is usual")
    most = whole_number("max_iterations", max_iterations, at_least=1)
    if not (isinstance(tol, float) and 0 < tol < 1):
        raise InvalidInput(f"tol must be a number in (0, 1), got {tol!r}; 1e-5 is usual.")
    energy = PathEnergy(decoder, start, end, output_metric=output_metric)
    coordinates = PathCoordinates(energy.start, energy.end, num_points=count)
    found = descend(energy, coordinates, max_iterations=most, tol=tol)
    return Geodesic(
        points=torch.cat([energy.start[None], coordinates.points(found.z_QND), energy.end[None]]),
        steps=found.steps_S,
        length=float(found.steps_S.sum()),
        straight_length=float(found.straight_S.sum()),
        chord=energy.chord,
        energy=float(found.steps_S.square().sum()),
        straight_energy=float(found.straight_S.square().sum()),
        converged=found.converged,
        iterations=found.iterations,
        evaluations=energy.evaluations,
    )
