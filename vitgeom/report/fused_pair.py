"""How methods compare that use all layers of one dataset × backbone: checked, frozen, as the report needs it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from vitgeom.bootstrap import Interval
from vitgeom.errors import InvalidInput
from vitgeom.fusion.comparison import Comparison, MethodScore
from vitgeom.report.answers import Answers, parse_answers


@dataclass(frozen=True)
class MethodRow:
    """One line of the table.

    Attributes:
        title: Of the method, for readers.
        family: ``single``, ``logit-level``, ``vertical`` or ``horizontal``.
        score: Accuracy, differences and gap closure.
        parameters: Fitted numbers that a prediction uses; None where they were not counted.
        flops_per_image: Operations of a prediction on top of the backbone, likewise.
        seconds_per_image: Measured when it was fitted; None if nobody remembers.
        backbone_passes: How many backbones an image passes through.
    """

    title: str
    family: str
    score: MethodScore
    parameters: int | None = None
    flops_per_image: int | None = None
    seconds_per_image: float | None = None
    backbone_passes: int = 1

    @property
    def name(self) -> str:
        """Key of the method."""
        return self.score.name


@dataclass(frozen=True)
class FusedPair:
    """All methods on one dataset × backbone (or several backbones).

    Attributes:
        dataset: Label of the dataset.
        backbone: Label of the backbone, or of all of them.
        comparison: The numbers.
        methods: In the order of the table.
        answers: What they said about each image.
        failures: Title and error of each method that could not be fitted.
    """

    dataset: str
    backbone: str
    comparison: Comparison
    methods: tuple[MethodRow, ...]
    answers: Answers
    failures: tuple[tuple[str, str], ...] = ()

    @property
    def label(self) -> str:
        """How the pair is called on the page."""
        return f"{self.dataset} × {self.backbone}"

    def method(self, name: str) -> MethodRow | None:
        """Return the line of a method, None if it is not there."""
        return next((row for row in self.methods if row.name == name), None)

    @property
    def reference(self) -> MethodRow:
        """The method that differences are taken to."""
        return next(row for row in self.methods if row.name == self.comparison.reference)


def parse_fused_pair(
    *,
    dataset: str,
    backbone: str,
    table: Mapping[str, Any],
    predictions: bytes,
    seconds_per_image: Mapping[str, float],
) -> FusedPair:
    """Read the comparison of one pair.

    Args:
        dataset: Label of the dataset.
        backbone: Label of the backbone, or of all of them.
        table: Content of its ``comparison.json``.
        predictions: Content of its ``predictions.safetensors``.
        seconds_per_image: Measured times by method; may be empty.

    Raises:
        InvalidInput: A part is missing, a number is not finite, or table and predictions do not belong together.
    """
    where = f"{dataset} × {backbone}"
    try:
        comparison = Comparison.from_json(table["comparison"])
        about = {entry["name"]: entry for entry in table["methods"]}
        pair = FusedPair(
            dataset=dataset,
            backbone=backbone,
            comparison=comparison,
            methods=tuple(
                _row(score, about.get(score.name), seconds_per_image.get(score.name))
                for score in comparison.rows
            ),
            answers=parse_answers(predictions, best_layer=int(table["layers"]["best"]), where=where),
            failures=tuple((entry["title"], entry["error"]) for entry in table["failures"]),
        )
        comparison.row(comparison.reference)
    except (KeyError, TypeError, InvalidInput) as error:
        raise InvalidInput(
            f"the comparison of methods of {where} lacks what the report needs ({type(error).__name__}: {error}); was it written by "
            "another version? Run the stage fuse again."
        ) from error
    _check_finite(pair)
    _check_answers(pair)
    return pair


def _row(score: MethodScore, about: Mapping[str, Any] | None, seconds: float | None) -> MethodRow:
    """Return a line; what is no method of its own, such as one backbone alone, has a name and a score only."""
    if about is None:
        return MethodRow(title=score.name, family="single", score=score, seconds_per_image=seconds)
    return MethodRow(
        title=str(about["title"]),
        family=str(about["family"]),
        score=score,
        parameters=int(about["parameters"]),
        flops_per_image=int(about["flops_per_image"]),
        seconds_per_image=seconds,
        backbone_passes=int(about["backbone_passes"]),
    )


def _check_answers(pair: FusedPair) -> None:
    told, held = {row.name for row in pair.methods}, set(pair.answers.predicted)
    if told != held or len(pair.answers.target) != pair.comparison.num_samples:
        raise InvalidInput(
            f"the predictions of {pair.label} must be those of its table with {pair.comparison.num_samples} test images: missing "
            f"{sorted(told - held)}, unknown {sorted(held - told)}, {len(pair.answers.target)} images. Run the stage again that made them."
        )


def _check_finite(pair: FusedPair) -> None:
    spans: list[tuple[str, Interval | None]] = [
        (row.name, span) for row in pair.methods for span in (row.score.accuracy, row.score.difference)
    ]
    for name, span in spans:
        if span is not None and not (span.low <= span.high and math.isfinite(span.value)):
            raise InvalidInput(
                f"accuracy and difference of {name} on {pair.label} must be finite numbers with an interval from low to high, got {span}. "
                "Run the stage fuse again."
            )
