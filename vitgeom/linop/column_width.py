"""How many columns to multiply at once."""

from __future__ import annotations

import torch

# Wider blocks gain nothing on a CPU and fall out of its caches.
WIDEST = {"cpu": 8}
WIDEST_ELSEWHERE = 64


def column_width(column_bytes: int, *, max_bytes: int, max_batch: int | None, device: torch.device) -> int:
    """Return how many columns fit a byte budget, at least one and no more than the device gains from.

    Args:
        column_bytes: What one column holds at most.
        max_bytes: The budget.
        max_batch: Columns wanted whatever the budget; None: derive them.
        device: Where they are multiplied.
    """
    if max_batch is not None:
        return max_batch
    widest = WIDEST.get(device.type, WIDEST_ELSEWHERE)
    return max(1, min(widest, max_bytes // max(1, column_bytes)))
