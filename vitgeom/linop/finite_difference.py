"""Derivatives along one direction by evaluating twice: slow, rough, and independent of every rule of differentiation."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import torch
from torch import Tensor

# Steps relative to the root mean square of the features; the first is best for smooth decoders, the others for kinks and offsets.
STEPS = {torch.float32: (1e-2, 1e-3, 1e-4, 1e-1), torch.float64: (1e-5, 1e-7, 1e-3)}
# Zero features have no size of their own: that of usual ones, and one small enough for the epsilon of a normalisation.
ZERO_SCALES = (1.0, 1e-3)
# One evaluation of a deep decoder is right to about this many units in the last place of its largest output.
ROUNDING_ULPS = 8


def central_differences(
    function: Callable[[Tensor], Tensor], x: Tensor, direction: Tensor
) -> Iterator[tuple[Tensor, float]]:
    """Yield (T(x + h v) - T(x - h v)) / 2 h for shrinking and one growing h, each with the norm of its rounding error.

    Steps where the decoder is not finite are left out.

    Args:
        function: T.
        x: Where.
        direction: v, of the shape of x.
    """
    size = float(x.double().square().mean().sqrt())
    speed = float(direction.double().square().mean().sqrt()) or 1.0
    for scale, step in itertools.product((size,) if size else ZERO_SCALES, STEPS[x.dtype]):
        h = step * scale / speed
        ahead, behind = function(x + h * direction), function(x - h * direction)
        if ahead.shape != behind.shape or not bool(ahead.isfinite().all() and behind.isfinite().all()):
            continue
        largest = float(torch.maximum(ahead.abs().max(), behind.abs().max()))
        noise = ROUNDING_ULPS * torch.finfo(x.dtype).eps * largest * ahead.numel() ** 0.5 / (2 * h)
        yield (ahead - behind) / (2 * h), noise


def agrees(difference: Tensor, product: Tensor, *, noise: float, bound: float) -> bool:
    """Say whether a product is what evaluations show, up to a relative bound and their rounding error.

    Args:
        difference: From ``central_differences``.
        product: J v.
        noise: Norm of the rounding error of the difference.
        bound: Relative to the larger of both norms.
    """
    # In double precision: squares of outputs above 1e19 overflow in single precision, those below 1e-23 vanish.
    difference, product = difference.double(), product.double()
    larger = max(float(difference.norm()), float(product.norm()))
    return float((difference - product).norm()) <= bound * larger + noise
