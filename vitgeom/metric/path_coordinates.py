"""Coordinates in which all points of a path move together.   P = points, Q = P - 2 inner ones, N = tokens, D = width.

For a linear decoder the energy of a path F is a quadratic form with Hessian 2 K (x) J^T J, K = tridiag(-1, 2, -1) [Q, Q]. Its condition grows with P^2: a first-order
method hands a change on from point to point. With K^-1 = R R^T and F = line + c R z the Hessian in z is 2 c^2 I (x) J^T J, whatever P is.
"""

from __future__ import annotations

import torch
from jaxtyping import Float, Float64
from torch import Tensor


class PathCoordinates:
    """F_i = line_i + c (R z)_i for the inner points i = 1 .. P - 2; z = 0 is the straight line. c = ||F_{P-1} - F_0||, so z has no unit.

    Args:
        start: F_0 [N, D].
        end: F_{P-1} [N, D].
        num_points: P >= 3.
    """

    def __init__(self, start: Float[Tensor, "n d"], end: Float[Tensor, "n d"], *, num_points: int) -> None:
        shares_P = torch.linspace(0, 1, num_points, dtype=start.dtype, device=start.device)
        self.line_QND = torch.lerp(start, end, shares_P[1:-1, None, None])
        self._scaled_QQ = (root_of_inverse(num_points - 2) * (end - start).norm().double().cpu()).to(start)

    def points(self, z_QND: Float[Tensor, "q n d"]) -> Float[Tensor, "q n d"]:
        """Return the inner points.

        Args:
            z_QND: Coordinates.
        """
        return self.line_QND + torch.tensordot(self._scaled_QQ, z_QND, dims=1)

    def pulled(self, gradient_QND: Float[Tensor, "q n d"]) -> Float[Tensor, "q n d"]:
        """Return the gradient by coordinates from that by points.

        Args:
            gradient_QND: By points.
        """
        return torch.tensordot(self._scaled_QQ.mT, gradient_QND, dims=1)


def root_of_inverse(count: int) -> Float64[Tensor, "q q"]:
    """Return R with R R^T = K^-1 for K = tridiag(-1, 2, -1), in float64.

    Args:
        count: Q >= 1.
    """
    beside = torch.ones(count, count, dtype=torch.float64).triu(1).tril(1)
    differences = 2 * torch.eye(count, dtype=torch.float64) - beside - beside.mT
    return torch.linalg.inv(torch.linalg.cholesky(differences).mT)
