"""Heads with random weights that depend on a seed alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import torch
from torch import nn

from vitgeom.seeding import derive_seed

Head = TypeVar("Head", bound=nn.Module)


def random_head(build: Callable[[], Head], *, seed: int) -> Head:
    """Build a module whose weights are drawn from ``seed``; the global random state stays as it was.

    Args:
        build: Constructor without arguments.
        seed: Draws the weights.
    """
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(derive_seed(seed, "decoder head") % 2**32)
        return build()
