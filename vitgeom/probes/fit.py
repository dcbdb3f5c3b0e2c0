"""Probes of all layers at all strengths, chosen on validation.

n = training rows, m = validation rows, L = layers, D = width, S = strengths.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from numbers import Real

import numpy as np
import torch
from jaxtyping import Float64
from torch import Tensor

from vitgeom.errors import InvalidInput
from vitgeom.probes.byte_budget import default_byte_budget
from vitgeom.probes.labels import Labels, class_ids, class_index, label_array
from vitgeom.probes.layer_probes import LayerProbes
from vitgeom.probes.layers import Features, as_layers
from vitgeom.probes.probe_layer import FitSettings, LayerOutcome, probe_layer
from vitgeom.probes.selection import choose_layer
from vitgeom.probes.staged_layer import staged_layer

L2_GRID: tuple[float, ...] = tuple(float(f"{10 ** (-5 + 0.75 * step):.6g}") for step in range(9))
"""Nine strengths from 1e-5 to 10: from nearly free on separable data to little more than class means."""


def fit_probes(
    X: Features,
    y: Labels,
    *,
    X_val: Features,
    y_val: Labels,
    l2: Sequence[float] = L2_GRID,
    tol: float = 1e-6,
    max_iter: int = 100,
    refit: bool = False,
    sample_weight: Tensor | np.ndarray | None = None,
    device: torch.device | str | None = None,
    byte_budget: int | None = None,
) -> LayerProbes:
    """Fit multinomial logistic regression with L2 on every layer and choose strength and best layer on validation.

    Per layer and strength: mean cross-entropy + (lambda / 2) ||W||_F^2 on train-standardised features, bias not
    penalised, solved to a relative gradient norm of ``tol``. Per layer the strength with the least validation log-loss
    is kept; the best layer is the one with the highest validation accuracy, ties by log-loss. A validation class that
    training never showed counts as wrong.

    Cost per layer: about 8 float64 passes and 30 float32 Hessian products per strength, each two products of ``[n, D]``
    with K columns. Memory: one layer at a time while it fits ``byte_budget`` (:mod:`vitgeom.probes.memory`). A larger
    layer of a source of rows is streamed: its rows are copied to a temporary file once, ``n D`` values beside about as
    many turned float32 ones (with ``refit`` twice the former), and solved from there block by block to the same
    certificates, in memory that does not grow with n beyond a label and a weight per row.

    Args:
        X: Training features ``[n, L, D]`` (tensor, numpy array or memory map), or a source that reads one layer, or some rows
            of one, at a time.
        y: n labels, integers or strings.
        X_val: Validation features, same layers and width.
        y_val: m labels of the same kind.
        l2: Strengths lambda to try, > 0.
        tol: Relative gradient norm ``||grad|| / ||grad at zero||``.
        max_iter: Most Newton steps per probe; one that is not done is marked and cannot become the best layer.
        refit: Refit each layer's chosen strength on train + validation (standardisation included).
        sample_weight: Non-negative weight of each training row; a refit gives validation rows the mean weight.
        device: Where to compute; the features' device if None. Results are on the CPU.
        byte_budget: Memory to aim for; fewer strengths are solved at once if need be, and a larger layer is streamed. If
            None, 1 GiB for features that are in memory anyway or can only be read a whole layer at a time, 256 MiB for
            those that are read by rows.

    Raises:
        InvalidInput: One class only, no validation rows, a NaN or infinite value, shapes that do not match, or settings
            out of range.
        NumericalFailure: No layer's probe converged.
        ResourceShortage: A temporary file cannot be written.
    """
    train, val = as_layers(X, name="X"), as_layers(X_val, name="X_val")
    if train.num_layers != val.num_layers:
        raise InvalidInput(
            f"X and X_val must have the same layers, got {train.num_layers} and {val.num_layers}."
        )
    classes, target, target_val = _targets(y, y_val)
    settings = FitSettings(
        num_classes=len(classes),
        l2=_strengths(l2),
        tol=tol,
        max_iter=max_iter,
        sample_weight=_weight_column(sample_weight, num_rows=len(target)),
        byte_budget=default_byte_budget(X) if byte_budget is None else byte_budget,
        refit=refit,
    )
    where = None if device is None else torch.device(device)
    outcomes: list[LayerOutcome] = []
    staged = partial(staged_layer, num_classes=len(classes), byte_budget=settings.byte_budget, device=where)
    for layer in range(train.num_layers):
        with (
            staged(train, layer, name="X", rows=len(target)) as x,
            staged(val, layer, name="X_val", rows=len(target_val)) as x_val,
        ):
            width = len(outcomes[0].weight) if outcomes else x.shape[1]
            if not x.shape[1] == x_val.shape[1] == width:
                raise InvalidInput(
                    f"all layers of X and X_val must have the same width, got {x.shape[1]} and {x_val.shape[1]} at "
                    f"layer {layer} against {width} at layer 0."
                )
            outcomes.append(probe_layer(x, target, x_val=x_val, target_val=target_val, settings=settings))
    return _collect(outcomes, classes=classes, settings=settings)


def _targets(y: Labels, y_val: Labels) -> tuple[np.ndarray, Tensor, Tensor]:
    """Return the class ids and the class indices of both splits."""
    labels, labels_val = label_array(y, name="y"), label_array(y_val, name="y_val")
    if len(labels_val) == 0:
        raise InvalidInput(
            "y_val must hold at least 1 row, got 0: strengths are chosen on validation; split some training rows off."
        )
    classes = class_ids(labels)
    return classes, class_index(labels, classes), class_index(labels_val, classes)


def _strengths(l2: object) -> Float64[Tensor, " S"]:
    """Return the strengths as a tensor; whether they can be used is for the fit to say."""
    given = l2.tolist() if isinstance(l2, Tensor | np.ndarray) else l2
    values = list(given) if isinstance(given, Iterable) else None
    if values is None or not all(isinstance(part, Real) and not isinstance(part, bool) for part in values):
        raise InvalidInput(
            f"l2 must be a sequence of numbers, got {l2!r}; a single strength is l2=(0.1,), and without l2 the grid L2_GRID is tried."
        )
    return torch.tensor([float(part) for part in values], dtype=torch.float64)


def _weight_column(
    sample_weight: Tensor | np.ndarray | None, *, num_rows: int
) -> Float64[Tensor, "n 1"] | None:
    """Return the row weights as one column."""
    if sample_weight is None:
        return None
    if sample_weight.shape != (num_rows,):
        raise InvalidInput(f"sample_weight must have shape [{num_rows}], got {list(sample_weight.shape)}.")
    return torch.as_tensor(sample_weight).detach().cpu().double()[:, None]


def _collect(outcomes: list[LayerOutcome], *, classes: np.ndarray, settings: FitSettings) -> LayerProbes:
    """Put the layers side by side and choose the best."""
    converged = torch.tensor([outcome.final_converged for outcome in outcomes])
    best_layer = choose_layer(
        accuracy=torch.stack([outcome.val_accuracy[outcome.chosen] for outcome in outcomes]),
        loss=torch.stack([outcome.val_loss[outcome.chosen] for outcome in outcomes]),
        converged=converged,
    )
    return LayerProbes(
        classes=classes,
        mean=torch.stack([outcome.standardiser.mean for outcome in outcomes]),
        std=torch.stack([outcome.standardiser.std for outcome in outcomes]),
        weight=torch.stack([outcome.weight for outcome in outcomes]),
        bias=torch.stack([outcome.bias for outcome in outcomes]),
        l2_grid=settings.l2,
        chosen=torch.tensor([outcome.chosen for outcome in outcomes]),
        val_loss=torch.stack([outcome.val_loss for outcome in outcomes]),
        val_accuracy=torch.stack([outcome.val_accuracy for outcome in outcomes]),
        objective=torch.stack([outcome.objective for outcome in outcomes]),
        grad_norm=torch.stack([outcome.grad_norm for outcome in outcomes]),
        converged=torch.stack([outcome.converged for outcome in outcomes]),
        iterations=torch.stack([outcome.iterations for outcome in outcomes]),
        final_converged=converged,
        final_grad_norm=torch.tensor([outcome.final_grad_norm for outcome in outcomes], dtype=torch.float64),
        best_layer=best_layer,
        refit=settings.refit,
    )
