"""Render the report of a benchmark: result files in; one HTML page, its figures, a table and a summary out.

What the caller hands over (all small JSON; URIs are anything that ``vitgeom.store.uri.Root`` opens)::

    RenderRequest(
        profile="embedded",
        title="Do earlier layers know what the last one gets wrong?",
        combinations=(
            # a finished pair: the three result files of that pair
            CombinationSource(dataset="digits", backbone="nano_supervised",
                              manifest=".../features/.../manifest.json",
                              probes=".../probes/.../probes.json",
                              recoverability=".../probes/.../recoverability.json"),
            # a pair that did not finish: the reason, in words
            CombinationSource(dataset="photos", backbone="nano_selfsup", failed="StoreError: disk full"),
        ),
        datasets=(DatasetNote(name="digits", source="scikit-learn digits, 1,797 images", quarantine=(
            QuarantineNote(path="a/b.png", reason="truncated"),)),),
        costs=(StageCost(stage="extract", dataset="digits", backbone="nano_supervised", seconds=3.2,
                         bytes=1048576, peak_bytes=500000000, rows=1797, cached=False),),
        provenance={"git": {"commit": "abc"}, "versions": {"torch": "2.13"}, "params": {...}, "machine": {...},
                    "engine": {"kind": "ray"}, "orchestrator": "prefect"},   # any nesting of plain JSON
        out="results/embedded",
    )

``dataset`` and ``backbone`` are the labels that a reader sees. ``datasets``, ``costs`` and ``provenance`` may be empty.

Written under ``out``: ``report.html``, ``figures/*.svg``, ``metrics.csv``, ``summary.json``.
"""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field, model_validator

from tasks.request import Request


class _Small(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class CombinationSource(_Small):
    """One dataset × backbone: the URIs of its three result files, or the reason why there are none."""

    dataset: str
    backbone: str
    manifest: str | None = None
    probes: str | None = None
    recoverability: str | None = None
    failed: str | None = None

    @model_validator(mode="after")
    def _finished_or_failed(self) -> CombinationSource:
        given = [self.manifest, self.probes, self.recoverability]
        if (self.failed is None) != all(given) or (self.failed is not None and any(given)):
            raise ValueError(
                f"{self.dataset} × {self.backbone} must give either manifest, probes and recoverability (it finished) "
                f"or failed (the reason), got {self.model_dump(exclude_none=True)}."
            )
        return self


class QuarantineNote(_Small):
    """A file of a dataset that could not be used."""

    path: str
    reason: str


class DatasetNote(_Small):
    """What a reader should know about a dataset."""

    name: str
    source: str = ""
    quarantine: tuple[QuarantineNote, ...] = ()


class StageCost(_Small):
    """What one stage of one combination took. ``bytes`` are stored bytes, ``peak_bytes`` the largest memory of a process."""

    stage: str
    dataset: str
    backbone: str
    seconds: float = Field(ge=0)
    bytes: int | None = Field(default=None, ge=0)
    peak_bytes: int | None = Field(default=None, ge=0)
    rows: int | None = Field(default=None, ge=0)
    cached: bool = False


class RenderRequest(Request):
    """Everything that the page shows, by address."""

    task: ClassVar[str] = "render_report"

    profile: str
    title: str
    combinations: tuple[CombinationSource, ...] = Field(min_length=1)
    datasets: tuple[DatasetNote, ...] = ()
    costs: tuple[StageCost, ...] = ()
    provenance: dict[str, Any] = Field(default_factory=dict)
    out: str

    @property
    def key(self) -> str:
        """Profile and place: what is reported where."""
        return f"report {self.profile} -> {self.out}"
