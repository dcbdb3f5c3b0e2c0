"""One scale for the logits of a classifier, chosen by log-loss.   n = rows, K = classes."""

from __future__ import annotations

import math

import torch
from jaxtyping import Float, Int64
from scipy.optimize import minimize_scalar
from torch import Tensor

from vitgeom.fusion.quality import summed_log_loss
from vitgeom.fusion.staged_rows import blocks, kept
from vitgeom.probes.labels import UNKNOWN_CLASS
from vitgeom.probes.row_file import RowFile

BOUNDS = (1e-2, 1e4)
"""Scales outside say that the logits hold nothing, or separate the rows completely."""


def best_scale(
    logits: Float[Tensor, "n K"] | RowFile, target: Int64[Tensor, " n"], *, offset: Float[Tensor, " K"]
) -> tuple[float, float]:
    """Return the scale s that minimises the log-loss of offset + s logits, and that log-loss.

    The loss is convex in s; it is searched over log s within ``BOUNDS``.

    Args:
        logits: Scores to scale, in memory or in a file.
        target: Class indices; rows of a class that is unknown say nothing about the scale and are left out.
        offset: Added to every row unscaled, such as log priors.
    """
    known = target != UNKNOWN_CLASS
    if not bool(known.any()):
        return 1.0, math.nan
    wide, target = kept(logits, known), target[known]
    if isinstance(wide, Tensor):
        wide = wide.double()

    def loss(log_scale: float) -> float:
        return _mean_loss(wide, target, offset=offset, scale=math.exp(log_scale))

    found = minimize_scalar(
        loss, bounds=(math.log(BOUNDS[0]), math.log(BOUNDS[1])), method="bounded", options={"xatol": 1e-4}
    )
    return math.exp(found.x), float(found.fun)


def _mean_loss(
    logits: Tensor | RowFile, target: Int64[Tensor, " n"], *, offset: Float[Tensor, " K"], scale: float
) -> float:
    """Return the log-loss of offset + scale logits."""
    total = 0.0
    for where, block in blocks(logits):
        scaled = offset + scale * block.double()
        total += float(summed_log_loss(scaled[:, None], target[where])[0])
    return total / len(target)


def known_log_loss(logits: Float[Tensor, "n K"] | RowFile, target: Int64[Tensor, " n"]) -> float:
    """Return the log-loss over the rows whose class is known; NaN where there is none.

    Args:
        logits: Any finite values.
        target: Class indices, or -1.
    """
    known = target != UNKNOWN_CLASS
    if not bool(known.any()):
        return math.nan
    total = 0.0
    for where, block in blocks(logits):
        here = known[where]
        total += float(summed_log_loss(block[here][:, None], target[where][here])[0])
    return total / int(known.sum())


def log_prior(prior: Float[Tensor, " K"]) -> Float[Tensor, " K"]:
    """Return log priors of classes that all have at least one training row."""
    return torch.log(prior.clamp(min=1e-12))
