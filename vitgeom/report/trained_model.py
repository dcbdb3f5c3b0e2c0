"""Which models were trained for a decoder, why, and what they are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from vitgeom.report.averaged import Averaged, averaged_problems, parse_averaged


@dataclass(frozen=True)
class TrainedModel:
    """One kind of model, trained once per seed.

    Attributes:
        seeds: Which.
        parameters: Weights.
        epochs: The one that was kept, by seed; None where none was better than the start.
        figures: Its own, on test images, by name; None where one is defined on no image.
    """

    seeds: tuple[int, ...]
    parameters: int
    epochs: tuple[int | None, ...]
    figures: Mapping[str, Averaged | None]


@dataclass(frozen=True)
class Choice:
    """What was trained.

    Attributes:
        regime: The commonest among the validation images.
        counts: Validation images by regime.
        learners: What was trained.
        asked: Whether that was asked for, whatever the regime.
        why: What follows from the regime, in words.
    """

    regime: str
    counts: Mapping[str, int]
    learners: tuple[str, ...]
    asked: bool
    why: str


def parse_choice(found: Mapping[str, Any]) -> Choice:
    """Read what was trained, and why.

    Args:
        found: As ``vitgeom.metric.choice.Choice.to_json`` returns it.

    Raises:
        KeyError: A part is missing; likewise TypeError and ValueError for parts of another shape.
    """
    return Choice(
        regime=str(found["regime"]),
        counts={str(name): int(count) for name, count in found["counts"].items()},
        learners=tuple(str(name) for name in found["learners"]),
        asked=bool(found["asked"]),
        why=str(found["why"]),
    )


def parse_model(found: Mapping[str, Any]) -> TrainedModel:
    """Read one kind of model.

    Args:
        found: As ``{"seeds", "parameters", "epochs", "figures"}``.

    Raises:
        KeyError: A part is missing; likewise TypeError and ValueError for parts of another shape.
    """
    return TrainedModel(
        seeds=tuple(int(seed) for seed in found["seeds"]),
        parameters=int(found["parameters"]),
        epochs=tuple(None if epoch is None else int(epoch) for epoch in found["epochs"]),
        figures={str(name): parse_averaged(figure) for name, figure in found["figures"].items()},
    )


def model_problems(name: str, model: TrainedModel) -> Iterator[str]:
    """Yield what cannot be in a model.

    Args:
        name: How it is called.
        model: The model.
    """
    if not model.seeds or len(model.seeds) != len(model.epochs):
        yield f"the {name} must have one epoch per seed, got {len(model.epochs)} for {len(model.seeds)} seeds"
    for figure, found in model.figures.items():
        yield from averaged_problems(f"{figure} of {name}", found)
