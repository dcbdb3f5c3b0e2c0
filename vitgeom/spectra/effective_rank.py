"""How many directions a task depends on (B5 of the methods)."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, Literal

from torch import Tensor

from vitgeom.spectra.sketch import Sketch

SHARE = 0.90


@dataclass(frozen=True)
class RankForShare:
    """r_0.90, the least r with kappa_cap(r) >= 0.90, as well as it is known.

    Attributes:
        status: ``exact``: low = value = high; ``interval``: it lies between converged values, the norm's interval leaves these; ``bound``: it is at least ``low``,
            and ``value`` is a guess from the density.
        value: None where there is no guess.
        low: Never above r_0.90, up to the norm's interval.
        high: min(M, N) where nothing better is known.
    """

    status: Literal["exact", "interval", "bound"]
    value: float | None
    low: int
    high: int

    def to_json(self) -> dict[str, Any]:
        """Return the four by name."""
        return asdict(self)


@dataclass(frozen=True)
class EffectiveRanks:
    """Four answers to "how many"; None where undefined (zero Jacobian) or not measured.

    Attributes:
        participation_ratio: (sum sigma^2)^2 / sum sigma^4.
        entropy_rank: exp(H(sigma^2 / sum)), from the density.
        stable_rank: ||J||_F^2 / sigma_1^2.
        r_90: Least r that holds 90 %.
    """

    participation_ratio: float | None
    entropy_rank: float | None
    stable_rank: float | None
    r_90: RankForShare | None

    def to_json(self) -> dict[str, Any]:
        """Return the four by name."""
        return {
            "participation_ratio": self.participation_ratio,
            "entropy_rank": self.entropy_rank,
            "stable_rank": self.stable_rank,
            "r_90": None if self.r_90 is None else self.r_90.to_json(),
        }


def effective_ranks(sketch: Sketch) -> EffectiveRanks:
    """Return every effective rank that the sketch allows.

    Args:
        sketch: Of J.
    """
    total = sketch.norm.value
    if total == 0 or len(sketch.leading) == 0:
        return EffectiveRanks(None, None, None, None)
    most = float(min(sketch.shape))
    square = sketch.square
    return EffectiveRanks(
        participation_ratio=min(total**2 / square, most) if square else None,
        entropy_rank=None if sketch.density is None else sketch.density.entropy_rank(),
        stable_rank=total / float(sketch.leading[0]),
        r_90=rank_for_share(sketch),
    )


def rank_for_share(sketch: Sketch, *, share: float = SHARE) -> RankForShare:
    """Return the least r with kappa_cap(r) >= share and how well it is known.

    While r stays within the converged values the answer is theirs; only the norm's interval can blur it. Beyond, each further value is at most the last
    converged one, so what is missing needs at least (missing / that value) more.

    Args:
        sketch: Of J, not zero.
        share: In (0, 1).
    """
    known = sketch.leading[: sketch.converged]
    ends = [_within(known, share * total) for total in (sketch.norm.low, sketch.norm.value, sketch.norm.high)]
    guess = None if sketch.density is None else sketch.density.rank_for(share)
    if ends[0] is not None and ends[2] is not None:
        low, high = ends[0], ends[2]
        return RankForShare("exact" if low == high else "interval", float(ends[1] or low), low, high)
    low = ends[0] or _beyond(sketch, known, share * sketch.norm.low)
    high = min(sketch.shape)
    return RankForShare("bound", None if guess is None else max(guess, float(low)), min(low, high), high)


def _within(known: Tensor, wanted: float) -> int | None:
    """Least r whose known values sum to what is wanted; None if all of them do not."""
    held = known.cumsum(0)
    # Sums of the same numbers in another order differ by rounding.
    reached = (held >= wanted * (1 - 1e-12)).nonzero()
    return int(reached[0]) + 1 if len(reached) else None


def _beyond(sketch: Sketch, known: Tensor, wanted: float) -> int:
    """Lower bound where the converged values do not suffice; without any, the top sigma^2 bounds every value."""
    largest = known[-1] if len(known) else sketch.leading[0]
    missing = wanted - float(known.sum())
    return len(known) + max(1, math.ceil(missing / float(largest) * (1 - 1e-9)))
