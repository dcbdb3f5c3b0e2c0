"""What a bottleneck in front of a decoder does to the effective rank, and how well the features come through it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from vitgeom.report.averaged import Averaged, averaged_problems, parse_averaged

RANKS = {
    "participation_ratio": "participation ratio",
    "entropy_rank": "entropy rank",
    "r_90": "directions for 90 %",
}
"""Effective ranks -> what a reader calls them."""
FIGURES = {**RANKS, "kappa": "held: kappa_cap(R)"}


@dataclass(frozen=True)
class Change:
    """One figure of the decoder on the features as they are, and behind the bottleneck; None where it is undefined."""

    before: Averaged | None
    after: Averaged | None


@dataclass(frozen=True)
class Bottleneck:
    """One bottleneck.

    Attributes:
        registers: Tokens that everything has to pass.
        width: Numbers in each.
        figures: By the names of ``FIGURES``.
        rebuild_error: Squared error of the rebuilt tokens, as a share of their variance.
        task_error: What that does to the decoder's output.
    """

    registers: int
    width: int
    figures: Mapping[str, Change]
    rebuild_error: Averaged | None
    task_error: Averaged | None

    @property
    def latents(self) -> int:
        """M': no derivative behind the bottleneck has a higher rank."""
        return self.registers * self.width


def parse_bottleneck(content: Mapping[str, Any] | None) -> Bottleneck | None:
    """Read what a bottleneck did; None where there is none.

    Args:
        content: As ``{"registers", "width", "figures": {name: {"before", "after"}}, "rebuild_error", "task_error"}``.

    Raises:
        KeyError: A part is missing; likewise TypeError and ValueError for parts of another shape.
    """
    if content is None:
        return None
    return Bottleneck(
        registers=int(content["registers"]),
        width=int(content["width"]),
        figures={
            name: Change(
                *(parse_averaged(content["figures"][name][moment]) for moment in ("before", "after"))
            )
            for name in FIGURES
        },
        rebuild_error=parse_averaged(content["rebuild_error"]),
        task_error=parse_averaged(content["task_error"]),
    )


def bottleneck_problems(found: Bottleneck | None) -> Iterator[str]:
    """Yield what cannot be in the figures of a bottleneck.

    Args:
        found: The bottleneck.
    """
    if found is None:
        return
    for name, change in found.figures.items():
        most = float("inf") if name in RANKS else 1.0
        yield from averaged_problems(f"{name} before the bottleneck", change.before, least=0.0, most=most)
        yield from averaged_problems(f"{name} behind the bottleneck", change.after, least=0.0, most=most)
    yield from averaged_problems("the rebuild error", found.rebuild_error, least=0.0)
    yield from averaged_problems("the task error", found.task_error, least=0.0)
