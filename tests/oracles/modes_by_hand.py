"""Separated modes of one image, found by looking at each pair of neighbours."""

from __future__ import annotations

from collections.abc import Sequence


def modes_by_hand(sigma: Sequence[float], *, found: int, rank: int) -> list[bool]:
    """Return whether each of the first ``rank`` modes differs by 5 % or more from both neighbours that exist."""
    real = [value for value in sigma[:found] if value > 0]
    answer = []
    for j in range(min(rank, len(sigma))):
        alone = j < len(real)
        if j + 1 < len(real) and real[j] / real[j + 1] < 1.05:
            alone = False
        if 0 < j < len(real) and real[j - 1] / real[j] < 1.05:
            alone = False
        answer.append(alone)
    return answer
