"""One step of one worker: its part of a batch, and the gradient of all workers together."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from jaxtyping import Int64
from torch import Generator, Tensor

from vitgeom.errors import InvalidInput, NumericalFailure
from vitgeom.metric.training.batch_order import shard
from vitgeom.metric.training.examples import Examples
from vitgeom.metric.training.learner import Learner
from vitgeom.metric.training.placement import Placement
from vitgeom.metric.training.worker_group import WorkerGroup


def gradients_of(
    learner: Learner,
    examples: Examples,
    rows: Int64[Tensor, " b"],
    *,
    weights: Sequence[Tensor],
    placement: Placement,
    group: WorkerGroup,
    generator: Generator,
) -> tuple[list[Tensor], dict[str, float]]:
    """Return the gradient of the mean loss over a batch and the loss's terms, the same on every worker.

    Worker k computes on rows k, k + K, ... and its gradient counts by its share of the batch, so that K workers find what one would, up to rounding.

    Args:
        learner: Module and loss.
        examples: All training images.
        rows: The whole batch, of all workers.
        weights: By which to differentiate.
        placement: Where and how precisely.
        group: Of workers.
        generator: For the loss.

    Raises:
        NumericalFailure: The loss is not finite.
        InvalidInput: It has no term called "total".
    """
    mine = shard(rows, rank=group.rank, world_size=group.world_size)
    share = len(mine) / len(rows)
    # A worker without images computes on one that counts nothing: all must take part in the sums.
    batch = placement.batch(examples, mine if len(mine) else rows[:1])
    with placement.computing():
        terms = learner.loss(batch, generator=generator)
    if "total" not in terms:
        raise InvalidInput(f"loss of {type(learner).__name__} must have a term 'total', got {sorted(terms)}.")
    found = torch.autograd.grad(share * terms["total"], weights, allow_unused=True, materialize_grads=True)
    names = sorted(terms)
    values = torch.stack([share * terms[name].detach().float() for name in names])
    gradients, values = _summed([*found, values], group=group)
    named = dict(zip(names, values.tolist(), strict=True))
    if not bool(values.isfinite().all()):
        raise NumericalFailure(
            f"the loss is not finite ({named}) on images {rows.tolist()}. Lower the learning rate, or look at their targets."
        )
    return gradients, named


def _summed(tensors: list[Tensor], *, group: WorkerGroup) -> tuple[list[Tensor], Tensor]:
    """Return the sums over all workers, of all tensors but the last and of the last, with one exchange."""
    if group.world_size > 1:
        flat = torch.cat([tensor.detach().reshape(-1).float() for tensor in tensors])
        group.all_reduce(flat)
        pieces = flat.split([tensor.numel() for tensor in tensors])
        tensors = [piece.view_as(tensor) for piece, tensor in zip(pieces, tensors, strict=True)]
    return tensors[:-1], tensors[-1]
