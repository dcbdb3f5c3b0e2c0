"""One layer, from features to the probe that is kept.   n = training rows, m = validation rows, S = strengths."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Float64, Int64
from torch import Tensor

from vitgeom.probes.labels import UNKNOWN_CLASS
from vitgeom.probes.layer_fit import LayerFit, fit_layer
from vitgeom.probes.memory import chunk_rows, stream_chunk_bytes
from vitgeom.probes.row_file import RowFile, Rows
from vitgeom.probes.selection import choose_strength, validation_scores
from vitgeom.probes.staged_layer import stacked_rows
from vitgeom.probes.standardise import Standardiser


@dataclass(frozen=True, eq=False)
class FitSettings:
    """What the fits of all layers have in common; see :func:`vitgeom.probes.fit.fit_probes`."""

    num_classes: int
    l2: Float64[Tensor, " S"]
    tol: float
    max_iter: int
    sample_weight: Float64[Tensor, "n 1"] | None
    byte_budget: int
    refit: bool


@dataclass(frozen=True, eq=False)
class LayerOutcome:
    """Scores of every strength of one layer, and the probe of the chosen one."""

    val_loss: Float64[Tensor, " S"]
    val_accuracy: Float64[Tensor, " S"]
    objective: Float64[Tensor, " S"]
    grad_norm: Float64[Tensor, " S"]
    converged: Bool[Tensor, " S"]
    iterations: Int64[Tensor, " S"]
    chosen: int
    standardiser: Standardiser
    weight: Float64[Tensor, "D K"]
    bias: Float64[Tensor, " K"]
    final_grad_norm: float
    final_converged: bool


def probe_layer(
    x: Rows,
    target: Int64[Tensor, " n"],
    *,
    x_val: Float[Tensor, "m D"] | RowFile,
    target_val: Int64[Tensor, " m"],
    settings: FitSettings,
) -> LayerOutcome:
    """Fit all strengths, score them on validation, and keep (or refit) the one with the least log-loss.

    Args:
        x: Training features, in memory or in a file.
        target: Class indices.
        x_val: Validation features, likewise.
        target_val: Class indices, :data:`UNKNOWN_CLASS` where training never showed the class.
        settings: Strengths, accuracy and the rest.

    Raises:
        NumericalFailure: No strength has a finite validation loss.
    """
    grid = fit_layer(
        x,
        target,
        num_classes=settings.num_classes,
        l2=settings.l2,
        tol=settings.tol,
        max_iter=settings.max_iter,
        sample_weight=settings.sample_weight,
        byte_budget=settings.byte_budget,
    )
    loss, accuracy = validation_scores(grid, x_val, target_val, num_train=len(target))
    chosen = choose_strength(loss)
    kept, place = grid, chosen
    if settings.refit:
        kept, place = (
            _refit(x, target, x_val=x_val, target_val=target_val, settings=settings, chosen=chosen),
            0,
        )
    return LayerOutcome(
        val_loss=loss,
        val_accuracy=accuracy,
        objective=grid.objective,
        grad_norm=grid.grad_norm,
        converged=grid.converged,
        iterations=grid.iterations,
        chosen=chosen,
        standardiser=kept.standardiser,
        weight=kept.weight[place].clone(),
        bias=kept.bias[place].clone(),
        final_grad_norm=float(kept.grad_norm[place]),
        # A choice that rests on an unfinished probe is no better than an unfinished probe.
        final_converged=bool(kept.converged[place]) and bool(grid.converged[chosen]),
    )


def _refit(
    x: Rows,
    target: Int64[Tensor, " n"],
    *,
    x_val: Float[Tensor, "m D"] | RowFile,
    target_val: Int64[Tensor, " m"],
    settings: FitSettings,
    chosen: int,
) -> LayerFit:
    """Fit the chosen strength on train + validation; rows of a class that training never showed are left out."""
    known = target_val != UNKNOWN_CLASS
    weight = settings.sample_weight
    if weight is not None:
        weight = torch.cat([weight, weight.mean().expand(int(known.sum()), 1)])
    block_rows = chunk_rows(width=x.shape[1], columns=0, chunk_bytes=stream_chunk_bytes(settings.byte_budget))
    with stacked_rows(x, x_val, keep=known, block_rows=block_rows) as both:
        return fit_layer(
            both,
            torch.cat([target, target_val[known]]),
            num_classes=settings.num_classes,
            l2=settings.l2[chosen, None],
            tol=settings.tol,
            max_iter=settings.max_iter,
            sample_weight=weight,
            byte_budget=settings.byte_budget,
        )
