"""A learner's figures on held-out images, shared among workers.   n = images."""

from __future__ import annotations

import math

import torch
from jaxtyping import Float64
from torch import Tensor

from vitgeom.metric.training.batch_order import shard
from vitgeom.metric.training.examples import Examples
from vitgeom.metric.training.learner import Learner
from vitgeom.metric.training.placement import Placement
from vitgeom.metric.training.report import HeldOutFigure
from vitgeom.metric.training.worker_group import Alone, WorkerGroup


def judge(
    learner: Learner,
    examples: Examples,
    *,
    batch_size: int,
    placement: Placement | None = None,
    group: WorkerGroup | None = None,
) -> dict[str, HeldOutFigure]:
    """Return every figure over all images; workers share them, and all get the same answer.

    Args:
        learner: Its module is put into evaluation mode.
        examples: Held-out images.
        batch_size: Images at a time.
        placement: Where to compute and how precisely; None for the CPU in single precision.
        group: Of workers; None for one alone.
    """
    values = figures_per_image(learner, examples, batch_size=batch_size, placement=placement, group=group)
    return {name: HeldOutFigure.of(each) for name, each in values.items()}


@torch.no_grad()
def figures_per_image(
    learner: Learner,
    examples: Examples,
    *,
    batch_size: int,
    placement: Placement | None = None,
    group: WorkerGroup | None = None,
) -> dict[str, Float64[Tensor, " n"]]:
    """Return every figure of every image, NaN where it is undefined.

    Args:
        learner: Its module is put into evaluation mode.
        examples: Held-out images.
        batch_size: Images at a time.
        placement: Where to compute and how precisely.
        group: Of workers.
    """
    placement, group = placement or Placement.on("cpu"), group or Alone()
    learner.module.eval()
    count = examples.num_images
    mine = shard(torch.arange(count), rank=group.rank, world_size=group.world_size)
    # A worker without images judges one all the same: it must know the names to add its zeros.
    found: dict[str, Tensor] = {}
    for rows in (mine if len(mine) else torch.zeros(1, dtype=torch.int64)).split(batch_size):
        with placement.computing():
            figures = learner.judge(placement.batch(examples, rows))
        for name, values in figures.items():
            whole = found.setdefault(name, torch.zeros(count, dtype=torch.float64, device=placement.device))
            if len(mine):
                whole[rows.to(placement.device)] = values.detach().to(whole)
    for name in sorted(found):
        group.all_reduce(found[name])
    return {name: values.cpu() for name, values in found.items()}


def selection(figures: dict[str, HeldOutFigure], *, learner: Learner) -> float | None:
    """Return the mean of the figure that decides, None where it is undefined.

    Args:
        figures: Of an epoch.
        learner: Names it.
    """
    mean = figures[learner.figure].mean
    return None if mean is None or math.isnan(mean) else mean
