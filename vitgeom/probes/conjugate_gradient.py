"""Preconditioned conjugate gradients for many systems that share their features (Hestenes and Stiefel 1952).

q = basis directions + 1, P = problems, K = classes; one system has q*K unknowns.
"""

from __future__ import annotations

import torch
from jaxtyping import Float32
from torch import Tensor

from vitgeom.probes.hessian import Hessian, KroneckerPreconditioner
from vitgeom.probes.streamed_hessian import StreamedHessian


def conjugate_gradient(
    hessian: Hessian | StreamedHessian,
    rhs: Float32[Tensor, "P K q"],
    *,
    preconditioner: KroneckerPreconditioner,
    tolerance: Float32[Tensor, " P"],
    max_products: int,
) -> tuple[Float32[Tensor, "P K q"], int]:
    """Return H^-1 rhs, each system to its own relative residual, and the single products spent.

    A system that is done leaves the batch. One whose curvature is lost in float32 rounding stops where it is: what it
    has is still a descent direction, and the caller's float64 line search judges it.

    Args:
        hessian: Symmetric positive (semi-)definite operators; one batched product per step.
        rhs: Right-hand sides.
        preconditioner: Approximate inverses.
        tolerance: Stop at ``||residual|| <= tolerance ||rhs||``.
        max_products: Most steps.
    """
    solution = torch.zeros_like(rhs)
    alive = torch.arange(len(rhs), device=rhs.device)
    residual = rhs
    target = tolerance * norm_of(rhs)
    ahead = preconditioner(residual)
    energy = dot_of(residual, ahead)
    direction = ahead
    spent = 0
    for _ in range(max_products):
        image = hessian(direction)
        spent += len(alive)
        curvature = dot_of(direction, image)
        sound = (curvature > 0) & (energy > 0) & torch.isfinite(curvature)
        step = torch.where(sound, energy / curvature.where(sound, 1.0), 0.0)[:, None, None]
        solution[alive] += step * direction
        residual = residual - step * image
        go_on = sound & (norm_of(residual) > target)
        if not bool(go_on.any()):
            break
        if not bool(go_on.all()):
            hessian, preconditioner = hessian.keep(go_on), preconditioner.keep(go_on)
            residual, direction = residual[go_on], direction[go_on]
            alive, target, energy = alive[go_on], target[go_on], energy[go_on]
        ahead = preconditioner(residual)
        renewed = dot_of(residual, ahead)
        direction = ahead + (renewed / energy)[:, None, None] * direction
        energy = renewed
    return solution, spent


def dot_of(a: Tensor, b: Tensor) -> Tensor:
    """Return the inner product ``[P]`` of two blocks ``[P, K, q]``, problem by problem."""
    return torch.linalg.vecdot(a.flatten(1), b.flatten(1))


def norm_of(a: Tensor) -> Tensor:
    """Return the Euclidean norm ``[P]`` of a block ``[P, K, q]``, problem by problem."""
    return dot_of(a, a).sqrt()
