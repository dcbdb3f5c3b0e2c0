"""How much memory to aim for where the caller does not say."""

from __future__ import annotations

import numpy as np
from torch import Tensor

from vitgeom.probes.layers import Features, TensorLayers
from vitgeom.probes.memory import DEFAULT_BYTE_BUDGET, STREAM_BYTE_BUDGET
from vitgeom.probes.row_access import has_row_access


def default_byte_budget(x: Features) -> int:
    """Return how much memory to use for features that lie where these do.

    Args:
        x: Features. A source that only arranges other features says by an attribute ``in_memory`` where those lie.
    """
    return DEFAULT_BYTE_BUDGET if in_memory(x) or not has_row_access(x) else STREAM_BYTE_BUDGET


def in_memory(x: Features) -> bool:
    """Say whether features are in memory anyway."""
    if isinstance(x, np.ndarray):
        return not isinstance(x, np.memmap)
    return isinstance(x, Tensor | TensorLayers) or bool(getattr(x, "in_memory", False))
