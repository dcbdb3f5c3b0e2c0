"""Going through examples once, some images at a time."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from vitgeom.metric.training.examples import Examples, needed

_AT_A_TIME = 16


def batches_of(examples: Examples) -> Iterator[dict[str, Tensor]]:
    """Yield all images in order.

    Args:
        examples: Any.
    """
    for rows in torch.arange(examples.num_images).split(_AT_A_TIME):
        yield examples.batch(rows)


def all_of(examples: Examples, *names: str) -> tuple[Tensor, ...]:
    """Return small arrays of all images.

    Args:
        examples: Any.
        *names: Arrays that fit into memory for all images.

    Raises:
        InvalidInput: One is not there.
    """
    found = [needed(batch, *names) for batch in batches_of(examples)]
    return tuple(torch.cat(parts) for parts in zip(*found, strict=True))
