"""The learning rate over a training: up in a line, down along half a cosine."""

from __future__ import annotations

import math


def rate_share(step: int, *, total: int, warm_up: float) -> float:
    """Return the share of the learning rate in one step; above 0 in every one of them.

    Args:
        step: From 0.
        total: Steps in all.
        warm_up: Share of them in which it rises.
    """
    rising = math.ceil(warm_up * total)
    if step < rising:
        return (step + 1) / rising
    return 0.5 * (1.0 + math.cos(math.pi * (step - rising) / (total - rising)))
