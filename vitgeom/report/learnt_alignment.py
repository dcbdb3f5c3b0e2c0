"""How well a network's directions are the exact ones, beside what anybody could reach.   R = directions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from vitgeom.report.averaged import HALF_PRECISION, Averaged, averaged_problems, parse_averaged

KINDS = ("learnt", "ceiling", "constant")


@dataclass(frozen=True)
class Alignment:
    """V1 of the network's directions, 0 to 1.

    Attributes:
        learnt: Of the network.
        lead: Of the network over ``constant``, image by image.
        ceiling: Of a second, independent estimate of the exact directions.
        constant: Of the one subspace for all images that fits the training images best.
        chance: Of a random subspace.
    """

    learnt: Averaged | None
    lead: Averaged | None
    ceiling: Averaged | None
    constant: Averaged | None
    chance: float


def parse_alignment(found: Mapping[str, Any] | None) -> Alignment | None:
    """Read how well directions agree; None where no network was trained.

    Args:
        found: As ``{"learnt", "lead", "ceiling", "constant", "chance"}``.

    Raises:
        KeyError: A part is missing; likewise TypeError and ValueError for parts of another shape.
    """
    if found is None:
        return None
    return Alignment(
        **{kind: parse_averaged(found[kind]) for kind in KINDS},
        lead=parse_averaged(found["lead"]),
        chance=float(found["chance"]),
    )


def alignment_problems(found: Alignment | None) -> Iterator[str]:
    """Yield what cannot be in these figures.

    Args:
        found: How well directions agree.
    """
    if found is None:
        return
    for kind in KINDS:
        yield from averaged_problems(
            f"V1 ({kind})", getattr(found, kind), least=0.0, most=1.0, slack=HALF_PRECISION
        )
    yield from averaged_problems("the lead of V1", found.lead, least=-1.0, most=1.0, slack=HALF_PRECISION)
    if not 0 <= found.chance <= 1:
        yield f"V1 (chance) must be 0 to 1, got {found.chance}"
