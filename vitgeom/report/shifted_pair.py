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
class AdaptedScores:
    """Methods on rows with batch statistics.

    Attributes:
        scores: In the order of the tables; empty where there are none.
        refused: Why there are none; None where there are some.
    """

    scores: tuple[ShiftScore, ...] = ()
    refused: str | None = None

    def score(self, name: str) -> ShiftScore | None:
        """Return the line of a method, None if it is not there."""
        return _named(self.scores, name)


@dataclass(frozen=True)
class ShiftCondition:
    """One damaged test split.

    Attributes:
        corruption: What was done to the images.
        severity: 1 to 5.
        scores: In the order of the tables.
        adapted: The same methods with batch statistics.
    """

    corruption: str
    severity: int
    scores: tuple[ShiftScore, ...]
    adapted: AdaptedScores

    def score(self, name: str) -> ShiftScore | None:
        """Return the line of a method, None if it is not there."""
        return _named(self.scores, name)


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
        adapted_mean: Means over them with batch statistics, None without any.
        adapted_clean: The clean test split with batch statistics, None where nobody asked.
        subpopulations: Groups of the test split as it is, None where there are none.
    """

    dataset: str
    backbone: str
    num_test: int
    clean: Mapping[str, Interval]
    conditions: tuple[ShiftCondition, ...] = ()
    mean: tuple[ShiftScore, ...] = ()
    adapted_mean: AdaptedScores | None = None
    adapted_clean: AdaptedScores | None = None
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
        return _named(self.mean, name)


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
    mean, clean_adapted = content["mean"], content["clean"]["batch_statistics"]
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
                _adapted(one["batch_statistics"]),
            )
            for one in damaged
        ),
        mean=() if mean is None else _scores(mean["rows"]),
        adapted_mean=None if mean is None else _adapted(mean["batch_statistics"]),
        adapted_clean=None if clean_adapted is None else _adapted(clean_adapted),
        subpopulations=_groups(by_group[0]) if by_group else None,
    )


def _scores(rows: Sequence[Mapping[str, Any]]) -> tuple[ShiftScore, ...]:
    scores = [ShiftScore.from_json(row) for row in rows]
    return tuple(sorted(scores, key=lambda score: ORDER.get(score.name, len(ORDER))))


def _adapted(found: Mapping[str, Any]) -> AdaptedScores:
    return AdaptedScores(_scores(found["rows"]), found["refused"])


def _named(scores: Sequence[ShiftScore], name: str) -> ShiftScore | None:
    return next((score for score in scores if score.name == name), None)


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
    adapted = [pair.adapted_mean, pair.adapted_clean, *(one.adapted for one in pair.conditions)]
    scores = [
        *pair.mean,
        *(score for one in pair.conditions for score in one.scores),
        *(score for found in adapted if found is not None for score in found.scores),
    ]
    groups = () if pair.subpopulations is None else pair.subpopulations.methods
    return [
        *pair.clean.items(),
        *((score.name, span) for score in scores for span in (score.accuracy, *score.differences.values())),
        *((one.name, span) for one in groups for span in (one.worst, one.mean, *one.per_group.values())),
    ]
