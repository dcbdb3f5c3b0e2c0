"""What a bottleneck in front of a decoder does to the effective rank, and how well the features come through it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from vitgeom.report.averaged import Averaged, averaged_problems, parse_averaged
from vitgeom.report.learnt_alignment import Alignment, alignment_problems, parse_alignment
from vitgeom.report.trained_model import TrainedModel, model_problems, parse_model

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
class Behind:
    """What a network learnt of the decoder as a function of the latents.

    Attributes:
        rank: Directions of the targets.
        recipe: How exact targets were made.
        products: That an exact target took per image.
        images: By split.
        alignment: Of its directions.
        models: By name.
    """

    rank: int
    recipe: str
    products: float
    images: Mapping[str, int]
    alignment: Alignment
    models: Mapping[str, TrainedModel]


@dataclass(frozen=True)
class Bottleneck:
    """One bottleneck.

    Attributes:
        registers: Tokens that everything has to pass.
        width: Numbers in each.
        parameters: Weights.
        figures: By the names of ``FIGURES``.
        rebuild_error: Squared error of the rebuilt tokens, as a share of their variance.
        task_error: What that does to the decoder's output.
        behind: None where no network was trained on the latents.
    """

    registers: int
    width: int
    parameters: int
    figures: Mapping[str, Change]
    rebuild_error: Averaged | None
    task_error: Averaged | None
    behind: Behind | None

    @property
    def latents(self) -> int:
        """M': no derivative behind the bottleneck has a higher rank."""
        return self.registers * self.width


def parse_bottleneck(content: Mapping[str, Any] | None) -> Bottleneck | None:
    """Read what a bottleneck did; None where there is none.

    Args:
        content: As ``{"registers", "width", "parameters", "figures": {name: {"before", "after"}}, "rebuild_error", "task_error"}``; "behind" may be missing.

    Raises:
        KeyError: A part is missing; likewise TypeError and ValueError for parts of another shape.
    """
    if content is None:
        return None
    return Bottleneck(
        registers=int(content["registers"]),
        width=int(content["width"]),
        parameters=int(content["parameters"]),
        figures={
            name: Change(
                *(parse_averaged(content["figures"][name][moment]) for moment in ("before", "after"))
            )
            for name in FIGURES
        },
        rebuild_error=parse_averaged(content["rebuild_error"]),
        task_error=parse_averaged(content["task_error"]),
        behind=_behind(content.get("behind")),
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
    if found.behind is not None:
        yield from alignment_problems(found.behind.alignment)
        for name, model in found.behind.models.items():
            yield from model_problems(f"{name} on latents", model)


def _behind(content: Mapping[str, Any] | None) -> Behind | None:
    if content is None:
        return None
    alignment = parse_alignment(content["alignment"])
    if alignment is None:
        raise ValueError("no alignment of the network on latents")
    return Behind(
        rank=int(content["rank"]),
        recipe=str(content["recipe"]),
        products=float(content["products_per_image"]),
        images={str(split): int(count) for split, count in content["images"].items()},
        alignment=alignment,
        models={str(name): parse_model(found) for name, found in content["models"].items()},
    )
