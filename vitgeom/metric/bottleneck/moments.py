"""Moments of training tokens and outputs, one pass over the images each.   n = images, N = tokens, W = numbers per token."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from vitgeom.errors import InvalidInput
from vitgeom.metric.training import Examples, needed

READ = 32
"""Images in memory at a time."""


@dataclass(frozen=True, eq=False)
class Moments:
    """Mean over images, and variance about it, of every number."""

    mean: Tensor
    variance: Tensor


class TrainingBlocks:
    """One array of examples in blocks of a few images, as often as it is iterated.

    Args:
        examples: All training images.
        name: Of the array.
        dtype: Blocks come in it.
    """

    def __init__(self, examples: Examples, name: str, *, dtype: torch.dtype) -> None:
        self._examples, self._name, self._dtype = examples, name, dtype

    def __iter__(self) -> Iterator[Float[Tensor, "b ..."]]:
        for rows in torch.arange(self._examples.num_images).split(READ):
            yield needed(self._examples.batch(rows), self._name)[0].to(self._dtype)


def moments(blocks: Iterable[Tensor], *, name: str) -> Moments:
    """Return mean and variance over images, computed in float64 in two passes.

    Args:
        blocks: Iterated twice.
        name: Of the array, for the error message.

    Raises:
        InvalidInput: One image only, or images that are all the same.
    """
    mean, count = _mean(blocks, lambda block: block)
    variance, _ = _mean(blocks, lambda block: (block - mean).square())
    if not bool(variance.any()):
        raise InvalidInput(
            f"{name} of all {count} training images are the same: a bottleneck learns what differs between images. Give more images."
        )
    first = next(iter(blocks))
    return Moments(mean.to(first.dtype), variance.to(first.dtype))


def _mean(blocks: Iterable[Tensor], part: Callable[[Tensor], Tensor]) -> tuple[Tensor, int]:
    parts = [(part(block.double()).sum(0), len(block)) for block in blocks]
    count = sum(size for _, size in parts)
    return torch.stack([total for total, _ in parts]).sum(0) / count, count
