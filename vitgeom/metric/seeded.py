"""Weights that depend on a seed alone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from vitgeom.seeding import checked_seed, derive_seed


@contextmanager
def seeded(seed: int, name: str) -> Iterator[None]:
    """Let modules that are built inside draw their weights from a seed; the global random state stays as it was.

    Args:
        seed: Any whole number.
        name: Of the model.
    """
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(derive_seed(checked_seed(seed), name) % 2**32)
        yield
