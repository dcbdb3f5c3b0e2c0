from __future__ import annotations

import pytest
import torch
from torch import Tensor

from vitgeom.metric.path_coordinates import PathCoordinates
from vitgeom.metric.path_descent import descend
from vitgeom.metric.path_energy import PathEnergy


def bent(f: Tensor) -> Tensor:
    """A wave over the plane: [1, 2] -> [3]."""
    return torch.stack([f[0, 0], f[0, 1], torch.sin(3 * f[0, 0]) * torch.cos(2 * f[0, 1])])


def parts(num_points: int) -> tuple[PathEnergy, PathCoordinates]:
    start, end = (
        torch.tensor([[0.0, 0.0]], dtype=torch.float64),
        torch.tensor([[2.0, 1.0]], dtype=torch.float64),
    )
    return PathEnergy(bent, start, end), PathCoordinates(start, end, num_points=num_points)


def test_what_is_returned_is_the_best_that_was_seen() -> None:
    energy, coordinates = parts(9)
    seen: list[float] = []
    measure = energy.steps

    def noted(inner: Tensor) -> tuple[Tensor, Tensor]:
        steps, gradient = measure(inner)
        seen.append(float(steps.square().sum()))
        return steps, gradient

    energy.steps = noted  # type: ignore[method-assign]
    found = descend(energy, coordinates, max_iterations=50, tol=1e-9)
    assert found.converged
    assert float(found.steps_S.square().sum()) == min(seen)
    assert float(found.straight_S.square().sum()) == seen[0]
    torch.testing.assert_close(measure(coordinates.points(found.z_QND))[0], found.steps_S)


def test_at_the_end_the_gradient_is_gone() -> None:
    energy, coordinates = parts(9)
    found = descend(energy, coordinates, max_iterations=200, tol=1e-14)
    before = coordinates.pulled(energy.steps(coordinates.line_QND)[1])
    after = coordinates.pulled(energy.steps(coordinates.points(found.z_QND))[1])
    assert float(after.norm()) < 1e-5 * float(before.norm())


@pytest.mark.parametrize("num_points", [10, 80])
def test_iterations_do_not_grow_with_the_points(num_points: int) -> None:
    found = descend(*parts(num_points), max_iterations=200, tol=1e-6)
    assert found.converged
    assert found.iterations <= 30


def test_a_line_search_that_stops_short_is_not_called_converged() -> None:
    found = descend(*parts(9), max_iterations=2, tol=1e-12)
    assert (found.converged, found.iterations) == (False, 2)
