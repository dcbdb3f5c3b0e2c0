"""What is told to the experiment tracker about a study: plain, frozen, JSON-able, and ignorant of the tracker."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from vitgeom.errors import InvalidInput

Scalar = str | int | float | bool | None


@dataclass(frozen=True)
class Metric:
    """One number; ``step`` is the layer where a metric has one value per layer."""

    name: str
    value: float
    step: int = 0

    def __post_init__(self) -> None:
        if "@" in self.name or not self.name:
            raise InvalidInput(
                f"metric name {self.name!r} must be non-empty and free of '@', which trackers refuse."
            )


@dataclass(frozen=True)
class DatasetRecord:
    """The stored features that a result was computed from: where they lie and the digest of their manifest."""

    name: str
    digest: str
    uri: str


@dataclass(frozen=True)
class CellRecord:
    """The result of one dataset with one backbone; equal ``key`` means equal result.

    ``fusion`` are files of the comparison of methods, which are kept in a folder of that name.
    """

    name: str
    key: str
    params: Mapping[str, Scalar] = field(default_factory=dict)
    metrics: tuple[Metric, ...] = ()
    tags: Mapping[str, str] = field(default_factory=dict)
    dataset: DatasetRecord | None = None
    artifacts: tuple[str, ...] = ()
    fusion: tuple[str, ...] = ()


@dataclass(frozen=True)
class StudyRecord:
    """A whole study: what its cells share, and the cells.

    Attributes:
        experiment: Name of the experiment the runs belong to.
        name: What a reader sees as the name of the parent run.
        key: Digest of everything the results depend on; a study with a known key is not recorded twice.
        params: Flattened parameters, ``extract.batch_size`` -> 64.
        metrics: Numbers about the study as a whole.
        tags: Where it came from: commit, orchestrator, run identifiers.
        artifacts: Files and folders on this machine (the report, its figures).
        artifacts_digest: Digest of their content; other artifacts replace those of a study that is known.
        cells: One record per dataset and backbone.
    """

    experiment: str
    name: str
    key: str
    params: Mapping[str, Scalar] = field(default_factory=dict)
    metrics: tuple[Metric, ...] = ()
    tags: Mapping[str, str] = field(default_factory=dict)
    artifacts: tuple[str, ...] = ()
    artifacts_digest: str = ""
    cells: tuple[CellRecord, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return a mapping that ``from_json`` turns back into an equal record."""
        return dataclasses.asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> StudyRecord:
        """Read what ``to_json`` wrote, also after a trip through JSON text."""
        cells = tuple(
            CellRecord(
                **{
                    **cell,
                    **_tuples(cell),
                    "fusion": tuple(cell.get("fusion", ())),
                    "dataset": DatasetRecord(**cell["dataset"]) if cell["dataset"] else None,
                }
            )
            for cell in data["cells"]
        )
        return cls(**{**data, **_tuples(data), "cells": cells})


def flatten(tree: Mapping[str, Any], *, prefix: str = "") -> dict[str, Scalar]:
    """Return nested parameters as ``{"extract.batch_size": 64}``; lists become text."""
    flat: dict[str, Scalar] = {}
    for key, value in tree.items():
        if isinstance(value, Mapping):
            flat |= flatten(value, prefix=f"{prefix}{key}.")
        else:
            flat[f"{prefix}{key}"] = value if isinstance(value, Scalar) else str(value)
    return flat


def _tuples(data: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "metrics": tuple(Metric(**metric) for metric in data["metrics"]),
        "artifacts": tuple(data["artifacts"]),
    }
