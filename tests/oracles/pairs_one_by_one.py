"""The importance loss of one image, one token and one pair at a time."""

from __future__ import annotations

import math
from collections.abc import Sequence


def importance_loss_one_by_one(predicted: Sequence[float], wanted: Sequence[float]) -> tuple[float, float]:
    """Return the mean squared error of logs over tokens of importance > 0, and the mean logistic loss over pairs."""
    logs = [math.log(w) for w in wanted if w > 0]
    if not logs:
        return 0.0, 0.0
    mean = sum(logs) / len(logs)
    width = max(math.sqrt(sum((one - mean) ** 2 for one in logs) / len(logs)), 1e-3)
    squares = [(math.log(p) - math.log(w)) ** 2 for p, w in zip(predicted, wanted, strict=True) if w > 0]
    losses = []
    for s in range(len(wanted)):
        for t in range(len(wanted)):
            if wanted[s] > wanted[t]:
                ahead = (math.log(predicted[s]) - math.log(predicted[t])) / width
                losses.append(math.log1p(math.exp(-ahead)))
    return sum(squares) / len(squares), sum(losses) / len(losses) if losses else 0.0
