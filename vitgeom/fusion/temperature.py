"""Temperature scaling (Guo et al. 2017): one number per layer that makes its probabilities honest.

m = validation rows, L = layers, K = classes, beta = 1 / T.
"""

from __future__ import annotations

import torch
from jaxtyping import Float, Float64, Int64
from torch import Tensor

from vitgeom.fusion.evidence import Evidence
from vitgeom.fusion.staged_rows import blocks, kept
from vitgeom.probes.labels import UNKNOWN_CLASS
from vitgeom.probes.row_file import RowFile

SMALLEST, LARGEST = 0.05, 20.0
"""Bounds of T. A probe that gets every validation row right would be best at T = 0, and then drown all other layers."""

_STEPS = 60
_CLOSE = 1e-12


def fit_temperatures(
    logits: Float[Tensor, "m L K"] | RowFile, target: Int64[Tensor, " m"]
) -> Float64[Tensor, " L"]:
    """Return T_l = argmin mean -log softmax(logits_l / T)_y within the bounds, for every layer.

    The loss is convex in beta with derivative mean(E_p[z] - z_y) and second derivative mean(Var_p[z]): Newton, kept inside a bracket that
    the sign of the derivative shrinks.

    Args:
        logits: Scores of each layer on rows that its probe was not fitted on; a file holds those of one layer.
        target: Class indices; rows of an unknown class are left out. With none left T is 1.
    """
    known = target != UNKNOWN_CLASS
    num_layers = logits.shape[1] if isinstance(logits, Tensor) else 1
    if not bool(known.any()):
        return torch.ones(num_layers, dtype=torch.float64)
    z, y = kept(logits, known), target[known]
    if isinstance(z, Tensor):
        z = z.double()
    low = torch.full((num_layers,), 1 / LARGEST, dtype=torch.float64)
    high = torch.full_like(low, 1 / SMALLEST)
    at_low, at_high = _slopes(z, y, low)[0] >= 0, _slopes(z, y, high)[0] <= 0
    beta = torch.ones_like(low)
    for _ in range(_STEPS):
        slope, curvature = _slopes(z, y, beta)
        low, high = torch.where(slope < 0, beta, low), torch.where(slope < 0, high, beta)
        step = beta - slope / curvature
        inside = (step > low) & (step < high)
        new = torch.where(inside, step, (low * high).sqrt())
        done = ((new - beta).abs() <= _CLOSE * beta).all()
        beta = new
        if bool(done):
            break
    beta = torch.where(at_low, 1 / LARGEST, torch.where(at_high, 1 / SMALLEST, beta))
    return 1 / beta


def layer_temperatures(evidence: Evidence, layers: range) -> Float64[Tensor, " L"]:
    """Return the temperature of each layer's probe on validation.

    Args:
        evidence: Probes and validation rows.
        layers: Which.
    """
    parts = []
    for layer in layers:
        logits = evidence.val_logits(layer)
        one = logits[:, None] if isinstance(logits, Tensor) else logits
        parts.append(fit_temperatures(one, evidence.data.val_target))
    return torch.cat(parts)


def _slopes(
    z: Float64[Tensor, "m L K"] | RowFile, y: Int64[Tensor, " m"], beta: Float64[Tensor, " L"]
) -> tuple[Float64[Tensor, " L"], Float64[Tensor, " L"]]:
    """Return the first and second derivative of the loss in beta."""
    slope, curvature = torch.zeros_like(beta), torch.zeros_like(beta)
    for where, block in blocks(z):
        first, second = _summed_slopes(block if block.ndim == 3 else block[:, None].double(), y[where], beta)
        slope, curvature = slope + first, curvature + second
    return slope / len(y), curvature / len(y)


def _summed_slopes(
    z: Float64[Tensor, "b L K"], y: Int64[Tensor, " b"], beta: Float64[Tensor, " L"]
) -> tuple[Float64[Tensor, " L"], Float64[Tensor, " L"]]:
    """Return the sums over rows of E_p[z] - z_y and of Var_p[z]."""
    p = torch.softmax(z * beta[:, None], dim=2)
    mean = (p * z).sum(dim=2)
    spread = (p * (z - mean[..., None]).square()).sum(dim=2)
    at_target = z[torch.arange(len(y)), :, y]
    return (mean - at_target).sum(dim=0), spread.sum(dim=0)
