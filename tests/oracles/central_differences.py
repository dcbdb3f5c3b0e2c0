"""Derivatives the slow, obvious way."""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor


def central_difference(
    function: Callable[[Tensor], Tensor], point: Tensor, direction: Tensor, *, step: float
) -> Tensor:
    """Return (f(x + h v) - f(x - h v)) / 2h; use float64, and a tiny h where f has kinks."""
    return (function(point + step * direction) - function(point - step * direction)) / (2 * step)
