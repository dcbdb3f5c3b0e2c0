"""One head on cached taps: AdamW, one cosine, no augmentation.   n = scenes, T = taps, N = tokens, D = width."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor, nn

from vitgeom.decoders.geometry import PatchGeometry
from vitgeom.decoders.random_head import random_head
from vitgeom.decoders.training.jobs import Job
from vitgeom.seeding import generator_for

WARM_UP = 50


def fit_head(
    job: Job,
    taps: Float[Tensor, "n t n_tokens d"],
    targets: Tensor,
    *,
    geometry: PatchGeometry,
    progress: Callable[[str], None],
) -> nn.Module:
    """Train a head from scratch.

    Args:
        job: Which head, and how.
        taps: Of the training scenes.
        targets: What it is to say about each of them.
        geometry: Of the tokens.
        progress: Receives one line now and then.

    Returns:
        The head in evaluation mode.
    """
    recipe = job.recipe
    head = random_head(lambda: job.build(taps.shape[-1]), seed=recipe.seed).train()
    generator = generator_for(recipe.seed, job.name, "batches")
    optimiser = torch.optim.AdamW(head.parameters(), lr=recipe.rate, weight_decay=recipe.weight_decay)
    for number in range(recipe.steps):
        for group in optimiser.param_groups:
            group["lr"] = recipe.rate * schedule(number, steps=recipe.steps)
        rows = torch.randint(len(taps), (recipe.batch,), generator=generator)
        loss = job.loss(head(list(taps[rows].unbind(1)), geometry=geometry), targets[rows])
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(head.parameters(), 1.0)
        optimiser.step()
        if (number + 1) % 100 == 0:
            progress(f"{job.name} step {number + 1}/{recipe.steps}: loss {loss.item():.4f}")
    return head.eval()


def schedule(number: int, *, steps: int) -> float:
    """Return the share of the largest step size: linear warm-up, then half a cosine.

    Args:
        number: From 0.
        steps: In all.
    """
    return min(1.0, (number + 1) / WARM_UP) * 0.5 * (1 + math.cos(math.pi * number / steps))
