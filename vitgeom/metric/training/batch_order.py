"""Which images make up which step, and which worker holds which of them."""

from __future__ import annotations

import torch
from jaxtyping import Int64
from torch import Tensor

from vitgeom.seeding import generator_for


def epoch_batches(num_images: int, *, batch_size: int, seed: int, epoch: int) -> list[Int64[Tensor, " b"]]:
    """Return the batches of an epoch: every image once, in an order that depends on seed and epoch alone; sizes differ by one at most.

    Args:
        num_images: n >= 1.
        batch_size: Largest size of a batch.
        seed: Of the training.
        epoch: From 1.
    """
    order = torch.randperm(num_images, generator=generator_for(seed, "batch order", epoch))
    return list(torch.tensor_split(order, num_batches(num_images, batch_size=batch_size)))


def num_batches(num_images: int, *, batch_size: int) -> int:
    """Return the steps of an epoch.

    Args:
        num_images: n >= 1.
        batch_size: Largest size of a batch.
    """
    return -(-num_images // batch_size)


def shard(rows: Int64[Tensor, " b"], *, rank: int, world_size: int) -> Int64[Tensor, " c"]:
    """Return a worker's part of some images; the parts of all workers together are all of them, and some may be empty.

    Args:
        rows: Numbers of images.
        rank: Of the worker, from 0.
        world_size: Workers.
    """
    return rows[rank::world_size]
