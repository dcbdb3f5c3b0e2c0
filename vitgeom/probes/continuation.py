"""Which problem of a batch should wait for which: continuation from strong to weak penalties, only where it pays.

Started all at once from zero, most problems need a handful of full Newton steps and share every product with the
features. A weakly penalised one on (nearly) separable data overshoots instead and creeps back in halved steps. Such a
problem waits until the next stronger penalty is solved, and starts again from that solution, where full steps work.

P = problems of the batch, A = active ones.
"""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float64, Int64
from torch import Tensor

CREEPING = 0.25
"""Share of the Newton step at or below which a problem is better started elsewhere."""


class Continuation:
    """Remembers who waits, and lets each problem wait at most once."""

    def __init__(self, l2: Float64[Tensor, " P"]) -> None:
        """Find each problem's next stronger penalty.

        Args:
            l2: Penalties of the batch, in any order; equal ones do not wait for each other.
        """
        above = torch.where(l2 > l2[:, None], l2, torch.inf)
        least, self._stronger = above.min(dim=1)
        self._may_wait = torch.isfinite(least)
        self._waiting = torch.zeros_like(self._may_wait)

    def should_wait(self, place: Int64[Tensor, " A"], length: Float64[Tensor, " A"]) -> Bool[Tensor, " A"]:
        """Return which problems creep and have someone to wait for that they have not waited for before.

        Args:
            place: Problems of the batch.
            length: Share of the Newton step each took.
        """
        return self._may_wait[place] & (length <= CREEPING)

    def wait(self, place: Int64[Tensor, " W"]) -> None:
        """Put problems on the bench."""
        self._waiting[place] = True
        self._may_wait[place] = False

    def release(self, done: Bool[Tensor, " P"]) -> tuple[Int64[Tensor, " J"], Int64[Tensor, " J"]]:
        """Take from the bench the problems whose stronger neighbour is done.

        Args:
            done: Which problems of the batch have ended.

        Returns:
            The problems, and where each starts from.
        """
        free = (self._waiting & done[self._stronger]).nonzero()[:, 0]
        self._waiting[free] = False
        return free, self._stronger[free]
