"""Joint training of encoder and head, several seeds as one batched model, stopped early by validation.

loss = cross-entropy + w_orth L_orth + (l2 / 2) (||A H - A_0 H_0||^2 + ||B H||^2)

A_0 H_0 is the linear stage, whose weights were judged on rows that they had not seen: the penalty draws back to it rather than to 0.

M = models (seeds), n = training rows, m = validation rows, p = inputs, h = hidden units.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from jaxtyping import Float32, Float64, Int64
from torch import Generator, Tensor
from torch.nn.functional import cross_entropy

from vitgeom.adamw import AdamW
from vitgeom.fusion.encoder import EncoderHead
from vitgeom.fusion.orthogonality import orthogonality
from vitgeom.fusion.staged_rows import blocks, kept, picked
from vitgeom.probes.labels import UNKNOWN_CLASS
from vitgeom.probes.row_file import RowFile


@dataclass(frozen=True)
class TrainingSettings:
    """How to train.

    Attributes:
        orth_weight: w_orth.
        l2: Penalty on what departs from the linear stage.
        dropout: Share of hidden units that are dropped.
        learning_rate: Of AdamW in the first epoch; it falls along a half cosine.
        max_epochs: Passes over the rows.
        patience: Epochs without a lower validation loss after which a model is done.
        batch_size: Rows of a batch; at least ten times the latents.
    """

    orth_weight: float
    l2: float
    dropout: float
    learning_rate: float
    max_epochs: int
    patience: int
    batch_size: int


@dataclass(frozen=True, eq=False)
class Validation:
    """How all models stand on the validation rows of known classes; NaN where there are none.

    Attributes:
        loss: Log-loss.
        accuracy: Share of rows whose most probable class is right.
    """

    loss: Float64[Tensor, " M"]
    accuracy: Float64[Tensor, " M"]


OnEpoch = Callable[[int, Validation], bool]
"""Told after each epoch, 0 for the linear stage, where the models stand; False ends the training."""


@dataclass(frozen=True, eq=False)
class Trained:
    """The best state of each model.

    Attributes:
        models: Weights at the epoch of the least validation loss; epoch 0 is the linear stage.
        epoch: That epoch, per model.
        val_loss: Its validation log-loss.
        start_loss: Validation log-loss of the linear stage.
    """

    models: EncoderHead
    epoch: Int64[Tensor, " M"]
    val_loss: Float64[Tensor, " M"]
    start_loss: Float64[Tensor, " M"]


def train_jointly(
    models: EncoderHead,
    u: Float32[Tensor, "n p"] | RowFile,
    target: Int64[Tensor, " n"],
    *,
    u_val: Float32[Tensor, "m p"] | RowFile,
    val_target: Int64[Tensor, " m"],
    settings: TrainingSettings,
    generators: list[Generator],
    on_epoch: OnEpoch | None = None,
) -> Trained:
    """Train all models; each has its own order of rows and its own dropout, from its own generator.

    One model's result does not depend on the others that are trained beside it, up to rounding.

    Args:
        models: Where to start; left alone.
        u: Inputs of the training rows, held-out where they come from labels. Of those in a file each batch is read row by row.
        target: Class indices.
        u_val: Inputs of the validation rows, in memory or in a file.
        val_target: Class indices, -1 for an unknown class (left out of the loss).
        settings: How.
        generators: One per model.
        on_epoch: Told how each epoch ended, and may end the training; it decides nothing else.
    """

    def wanted(epoch: int, loss: Float64[Tensor, " M"]) -> bool:
        return on_epoch is None or on_epoch(epoch, Validation(loss, _accuracy(now, u_val, val_target)))

    now = EncoderHead(*(tensor.detach().clone().requires_grad_() for tensor in models.parameters()))
    anchor = torch.bmm(models.direct, models.head)
    known = val_target != UNKNOWN_CLASS
    u_val, val_target = kept(u_val, known), val_target[known]
    best = models.copy()
    start_loss = _validation_loss(best, u_val, val_target)
    best_loss, best_epoch = start_loss.clone(), torch.zeros(len(start_loss), dtype=torch.int64)
    optimiser = AdamW(now.parameters(), learning_rate=settings.learning_rate, weight_decay=0.0)
    for epoch in range(1, settings.max_epochs + 1 if wanted(0, start_loss) else 1):
        share = 0.5 * (1.0 + math.cos(math.pi * (epoch - 1) / settings.max_epochs))
        for rows in _batches(len(u), settings.batch_size, generators):
            batch = picked(u, rows).to(target.device)
            loss = _loss(now, batch, target[rows], anchor=anchor, settings=settings, generators=generators)
            # The models share no weight, so the gradient of the sum is each one's own.
            optimiser.step(_gradients(loss.sum(), now), share=share)
        val_loss = _validation_loss(now, u_val, val_target)
        # A model whose patience is over is done, whatever the others do.
        better = (val_loss < best_loss) & (epoch - best_epoch <= settings.patience)
        for saved, tensor in zip(best.parameters(), now.parameters(), strict=True):
            saved[better] = tensor.detach()[better]
        best_loss[better], best_epoch[better] = val_loss[better], epoch
        if not wanted(epoch, val_loss) or bool((epoch - best_epoch >= settings.patience).all()):
            break
    return Trained(best, best_epoch, best_loss, start_loss)


def _loss(
    models: EncoderHead,
    u: Float32[Tensor, "M b p"],
    target: Int64[Tensor, "M b"],
    *,
    anchor: Float32[Tensor, "M p K"],
    settings: TrainingSettings,
    generators: list[Generator],
) -> Float32[Tensor, " M"]:
    """Return the objective of each model on its own batch."""
    keep, kept = None, 1.0 - settings.dropout
    if settings.dropout > 0:
        size = (u.shape[1], models.enter.shape[2])
        keep = torch.stack([torch.rand(size, generator=one) < kept for one in generators])
    z = models.latents(u, keep=keep, kept=kept)
    fit = cross_entropy(models.logits(z).transpose(1, 2), target, reduction="none").mean(dim=1)
    moved = (torch.bmm(models.direct, models.head) - anchor).square().sum(dim=(1, 2))
    moved = moved + torch.bmm(models.leave, models.head).square().sum(dim=(1, 2))
    return fit + settings.orth_weight * orthogonality(z) + 0.5 * settings.l2 * moved


def _gradients(loss: Tensor, models: EncoderHead) -> list[Tensor]:
    """Return one gradient per weight; zeros for a weight that the loss does not touch, such as hidden units that are not there."""
    weights = models.parameters()
    found = torch.autograd.grad(loss, weights, allow_unused=True)
    return [
        torch.zeros_like(weight) if gradient is None else gradient
        for weight, gradient in zip(weights, found, strict=True)
    ]


def _batches(num_rows: int, size: int, generators: list[Generator]) -> Iterator[Int64[Tensor, "M b"]]:
    """Yield row numbers for each model; a short last batch is left out, since correlations of few rows are noise."""
    order = torch.stack([torch.randperm(num_rows, generator=one) for one in generators])
    if num_rows <= size:
        yield order
        return
    for start in range(0, num_rows - size + 1, size):
        yield order[:, start : start + size]


@torch.no_grad()
def _validation_loss(
    models: EncoderHead, u: Float32[Tensor, "m p"] | RowFile, target: Int64[Tensor, " m"]
) -> Float64[Tensor, " M"]:
    """Return the log-loss of each model; NaN, which is lower than nothing, where no validation row has a known class."""
    count = len(models.head_bias)
    if not len(u):
        return torch.full((count,), math.nan, dtype=torch.float64)
    total = torch.zeros(count, dtype=torch.float64, device=target.device)
    for where, block in blocks(u):
        part = block.to(target.device)
        logits = models.logits(models.latents(part.expand(count, *part.shape)))
        log_p = torch.log_softmax(logits.double(), dim=2)
        total -= log_p[:, torch.arange(len(part)), target[where]].sum(dim=1)
    return total / len(u)


@torch.no_grad()
def _accuracy(
    models: EncoderHead, u: Float32[Tensor, "m p"] | RowFile, target: Int64[Tensor, " m"]
) -> Float64[Tensor, " M"]:
    """Return each model's share of rows whose most probable class is right; NaN without rows."""
    count = len(models.head_bias)
    right = torch.zeros(count, dtype=torch.float64, device=target.device)
    for where, block in blocks(u):
        part = block.to(target.device)
        logits = models.logits(models.latents(part.expand(count, *part.shape)))
        right += (logits.argmax(dim=2) == target[where]).double().sum(dim=1)
    return right / len(u)
