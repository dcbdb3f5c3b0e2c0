"""What the classifiers of one dataset × backbone do under distribution shift: checked, frozen, as the report needs it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from vitgeom.bootstrap import Interval
from vitgeom.errors import InvalidInput
from vitgeom.fusion.methods import METHODS
from vitgeom.fusion.under_shift import ShiftScore

ORDER = {name: place for place, name in enumerate(METHODS)}


@dataclass(frozen=True)
class GroupSpread:
    """One method over sub-populations: its worst group with that group's name, and the mean over groups."""

    name: str
    worst: Interval
    worst_group: str
    mean: Interval
    per_group: Mapping[str, Interval]


@dataclass(frozen=True)
class Subpopulations:
    """The groups of one test split.

    Attributes:
        counts: Name of a group -> number of test images.
        absent: Names of groups without any.
        without_group: Images that belong to none.
        methods: In the order of the tables.
    """

    counts: Mapping[str, int]
    absent: tuple[str, ...]
    without_group: int
    methods: tuple[GroupSpread, ...]


@dataclass(frozen=True)
class ShiftCondition:
    """One damaged test split.

    Attributes:
        corruption: What was done to the images.
        severity: 1 to 5.
        scores: In the order of the tables.
    """

    corruption: str
    severity: int
    scores: tuple[ShiftScore, ...]

    def score(self, name: str) -> ShiftScore | None:
        """Return the line of a method, None if it is not there."""
        return next((score for score in self.scores if score.name == name), None)


@dataclass(frozen=True)
class ShiftedPair:
    """All methods of one dataset × backbone under shift.

    Attributes:
        dataset: Label of the dataset.
        backbone: Label of the backbone.
        num_test: Test images of every condition, the clean ones among them.
        clean: Name of a method -> accuracy on the test split as it is.
        conditions: Damaged test splits; may be empty.
        mean: Means over them, in the order of the tables; empty without any.
        subpopulations: Groups of the test split as it is, None where there are none.
    """

    dataset: str
    backbone: str
    num_test: int
    clean: Mapping[str, Interval]
    conditions: tuple[ShiftCondition, ...] = ()
    mean: tuple[ShiftScore, ...] = ()
    subpopulations: Subpopulations | None = None

    @property
    def label(self) -> str:
        """How the pair is called on the page."""
        return f"{self.dataset} × {self.backbone}"

    @property
    def corruptions(self) -> tuple[str, ...]:
        """Names of the corruptions, in the order of the conditions."""
        return tuple(dict.fromkeys(one.corruption for one in self.conditions))

    @property
    def severities(self) -> tuple[int, ...]:
        """Severities that occur, ascending."""
        return tuple(sorted({one.severity for one in self.conditions}))

    def condition(self, corruption: str, severity: int) -> ShiftCondition | None:
        """Return one damaged test split, None if it was not evaluated."""
        return next(
            (one for one in self.conditions if (one.corruption, one.severity) == (corruption, severity)), None
        )

    def mean_score(self, name: str) -> ShiftScore | None:
        """Return the mean line of a method, None if it is not there."""
        return next((score for score in self.mean if score.name == name), None)


def title_of(name: str) -> str:
    """Return what a reader calls a method."""
    return METHODS[name].title if name in METHODS else name


def parse_shifted_pair(*, dataset: str, backbone: str, content: Mapping[str, Any]) -> ShiftedPair:
    """Read what the classifiers of one pair do under shift.

    Args:
        dataset: Label of the dataset.
        backbone: Label of the backbone.
        content: Of its file in ``shift/``.

    Raises:
        InvalidInput: A part is missing, or a number is not finite.
    """
    where = f"{dataset} × {backbone}"
    try:
        pair = _pair(dataset, backbone, content)
    except (KeyError, TypeError, IndexError) as error:
        raise InvalidInput(
            f"the figures of {where} under shift lack what the report needs ({type(error).__name__}: {error}); were they written by "
            "another version? Run the stage shift again."
        ) from error
    for name, span in _spans(pair):
        if not (span.low <= span.high and math.isfinite(span.value)):
            raise InvalidInput(
                f"figures of {name} on {where} under shift must be finite numbers with an interval from low to high, got {span}. "
                "Run the stage shift again."
            )
    return pair


def _pair(dataset: str, backbone: str, content: Mapping[str, Any]) -> ShiftedPair:
    damaged = [one for one in content["conditions"] if one["condition"]["corruption"]]
    by_group = [one["groups"] for one in content["conditions"] if one["condition"]["set"] == "subpopulations"]
    mean = content["mean"]
    return ShiftedPair(
        dataset=dataset,
        backbone=backbone,
        num_test=int(content["clean"]["num_samples"]),
        clean={name: Interval.from_json(span) for name, span in content["clean"]["accuracy"].items()},
        conditions=tuple(
            ShiftCondition(
                str(one["condition"]["corruption"]),
                int(one["condition"]["severity"]),
                _scores(one["rows"]),
            )
            for one in damaged
        ),
        mean=() if mean is None else _scores(mean["rows"]),
        subpopulations=_groups(by_group[0]) if by_group else None,
    )


def _scores(rows: Sequence[Mapping[str, Any]]) -> tuple[ShiftScore, ...]:
    scores = [ShiftScore.from_json(row) for row in rows]
    return tuple(sorted(scores, key=lambda score: ORDER.get(score.name, len(ORDER))))


def _groups(found: Mapping[str, Any]) -> Subpopulations:
    spreads = [
        GroupSpread(
            name=name,
            worst=Interval.from_json(one["worst"]),
            worst_group=str(one["worst_group"]),
            mean=Interval.from_json(one["mean"]),
            per_group={group: Interval.from_json(span) for group, span in one["per_group"].items()},
        )
        for name, one in found["methods"].items()
    ]
    return Subpopulations(
        counts={name: int(count) for name, count in found["counts"].items()},
        absent=tuple(found["absent"]),
        without_group=int(found["without_group"]),
        methods=tuple(sorted(spreads, key=lambda spread: ORDER.get(spread.name, len(ORDER)))),
    )


def _spans(pair: ShiftedPair) -> list[tuple[str, Interval]]:
    scores = [*pair.mean, *(score for one in pair.conditions for score in one.scores)]
    groups = () if pair.subpopulations is None else pair.subpopulations.methods
    return [
        *pair.clean.items(),
        *((score.name, span) for score in scores for span in (score.accuracy, *score.differences.values())),
        *((one.name, span) for one in groups for span in (one.worst, one.mean, *one.per_group.values())),
    ]
