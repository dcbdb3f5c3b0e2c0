"""Successive halving by walking each trial's curve after those of all trials before it, as a serial run would."""

from __future__ import annotations

from collections.abc import Sequence


def stops_one_by_one(
    curves: Sequence[Sequence[float]], *, rungs: Sequence[int], factor: int
) -> list[int | None]:
    """Return the rung each trial is stopped at; curves are whole."""
    reached: dict[int, list[float]] = {rung: [] for rung in rungs}
    stopped: list[int | None] = []
    for curve in curves:
        verdict = None
        for rung in rungs:
            best = min(curve[: rung + 1])
            reached[rung].append(best)
            if rung >= len(curve):
                continue  # over before this rung
            places = -(-len(reached[rung]) // factor)
            if best > sorted(reached[rung])[places - 1]:
                verdict = rung
                break
        stopped.append(verdict)
    return stopped
