from __future__ import annotations

import pytest
import torch
from torch import Tensor

from vitgeom.metric.path_coordinates import PathCoordinates, root_of_inverse


def drawn(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("count", [1, 2, 9])
def test_the_root_squared_inverts_second_differences(count: int) -> None:
    root = root_of_inverse(count)
    for column in range(count):
        wanted = [0.0] * (count + 2)
        found = [0.0, *(root @ root.mT)[:, column].tolist(), 0.0]
        for row in range(1, count + 1):
            wanted[row] = 2 * found[row] - found[row - 1] - found[row + 1]
        assert wanted[1:-1] == pytest.approx([float(row == column) for row in range(count)], abs=1e-12)


def test_zero_is_the_straight_line() -> None:
    start, end = drawn(3, 2), drawn(3, 2, seed=1)
    coordinates = PathCoordinates(start, end, num_points=5)
    for index, found in enumerate(coordinates.points(torch.zeros(3, 3, 2, dtype=torch.float64)), start=1):
        torch.testing.assert_close(found, start + index / 4 * (end - start))


def test_the_energy_of_a_linear_decoder_is_round_in_them() -> None:
    """Its Hessian by z is 2 c^2 in every direction for T = identity, whatever the number of points."""
    start, end = drawn(1, 2), drawn(1, 2, seed=1)
    for count in (3, 12):
        coordinates = PathCoordinates(start, end, num_points=count)

        def energy(z: Tensor, coordinates: PathCoordinates = coordinates) -> Tensor:
            path = torch.cat([start[None], coordinates.points(z), end[None]])
            return ((path[1:] - path[:-1]) ** 2).sum()

        z = drawn(count - 2, 1, 2, seed=2)
        hessian = torch.autograd.functional.hessian(energy, z).reshape(z.numel(), z.numel())
        wanted = 2 * float((end - start).norm()) ** 2 * torch.eye(z.numel(), dtype=torch.float64)
        torch.testing.assert_close(hessian, wanted)


def test_gradients_are_pulled_by_the_transpose() -> None:
    coordinates = PathCoordinates(drawn(2, 3), drawn(2, 3, seed=1), num_points=6)
    z, gradient = drawn(4, 2, 3, seed=2), drawn(4, 2, 3, seed=3)
    moved = coordinates.points(z) - coordinates.line_QND
    assert float((moved * gradient).sum()) == pytest.approx(float((z * coordinates.pulled(gradient)).sum()))


def test_equal_ends_leave_nothing_to_move() -> None:
    coordinates = PathCoordinates(drawn(2, 3), drawn(2, 3), num_points=4)
    torch.testing.assert_close(coordinates.points(drawn(2, 2, 3, seed=1)), drawn(2, 3).expand(2, 2, 3))
