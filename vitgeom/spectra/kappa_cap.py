"""The share of the task's sensitivity that R directions can hold (B2 of the methods, theorem 1).   R = directions."""

from __future__ import annotations

import torch
from jaxtyping import Float64
from torch import Tensor

from vitgeom.bootstrap import Interval
from vitgeom.errors import NumericalFailure
from vitgeom.spectra.sketch import Sketch

LOST_FACTOR = 2.0
"""The extrapolated energy that the top R miss is itself uncertain: the upper end of the interval allows for twice of it."""


def kappa_caps(sketch: Sketch) -> Float64[Tensor, " r"] | None:
    """Return kappa_cap(1..R) = (sigma_1^2 + ... + sigma_r^2) / ||J||_F^2, None for a zero Jacobian.

    Args:
        sketch: Of J.

    Raises:
        NumericalFailure: One is above 1, which no orthonormal directions can reach.
    """
    if sketch.norm.value == 0 or len(sketch.sigma_R) == 0:
        return None
    caps = (sketch.sigma_R**2).cumsum(0) / sketch.norm.value
    if float(caps[-1]) > 1 + 1e-6:
        raise NumericalFailure(
            f"kappa_cap({len(caps)}) is {float(caps[-1])!r}, above 1: the products with J and J^T do not belong to one linear map. "
            "Check that the operator is adjoint and deterministic."
        )
    return caps.clamp_max(1.0)


def kappa_interval(sketch: Sketch) -> Interval | None:
    """Return kappa_cap(R) with a 95 % interval, None for a zero Jacobian.

    The lower end divides by the upper end of ||J||_F^2. Ritz values are never above the singular values, so the upper end also adds what
    the top R may still miss.

    Args:
        sketch: Of J.
    """
    caps = kappa_caps(sketch)
    if caps is None:
        return None
    top = float((sketch.sigma_R**2).sum())
    low = top / sketch.norm.high
    high = (top + LOST_FACTOR * sketch.lost) / sketch.norm.low
    return Interval(float(caps[-1]), min(low, float(caps[-1])), max(min(high, 1.0), float(caps[-1])))


def orthonormality(right_NR: Tensor) -> None:
    """Refuse right vectors that are not orthonormal.

    Args:
        right_NR: V.

    Raises:
        NumericalFailure: An entry of V^T V - I is above 1e-3 (float32) or 1e-8 (float64).
    """
    wide = right_NR.double()
    gram = wide.mT @ wide
    error = float((gram - torch.eye(len(gram)).to(gram)).abs().max()) if len(gram) else 0.0
    allowed = 1e-8 if right_NR.dtype == torch.float64 else 1e-3
    if not error <= allowed:
        raise NumericalFailure(
            f"right vectors are not orthonormal: error {error:.1e}, at most {allowed:.0e} in {right_NR.dtype}. Try the operator in float64."
        )
