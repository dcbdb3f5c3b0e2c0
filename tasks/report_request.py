"""The request for a report: where every result lies, and what no result file says.

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
        # how methods on all layers compare, or the reason why nobody knows; several backbones together come last
        fusion=(FusionSource(dataset="digits", backbone="nano_supervised", comparison=".../fusion/.../comparison.json",
                             predictions=".../fusion/.../predictions.safetensors",
                             seconds_per_image={"vfusion": 2e-5}),),
        # what the same classifiers do under shift, where they were asked
        shift=(ShiftSource(dataset="digits", backbone="nano_supervised", evaluation=".../shift/digits/nano_supervised.json"),),
        # to which directions and tokens decoders react, where they were diagnosed
        directions=(DirectionSource(dataset="digits", backbone="nano_supervised",
                                    figures=".../features/digits/nano_supervised.directions.json"),),
        # what models learnt of that, where they were trained
        metrics=(MetricSource(dataset="digits", backbone="nano_supervised",
                              figures=".../features/digits/nano_supervised.metric.json"),),
        costs=(StageCost(stage="extract", dataset="digits", backbone="nano_supervised", seconds=3.2,
                         bytes=1048576, peak_bytes=500000000, rows=1797),),
        provenance={"git": {"commit": "abc"}, "versions": {"torch": "2.13"}, "params": {...}, "machine": {...},
                    "engine": {"kind": "ray"}, "orchestrator": "prefect"},   # any nesting of plain JSON
        out="results/embedded",
    )

``dataset`` and ``backbone`` are the labels that a reader sees. ``datasets``, ``fusion``, ``shift``, ``directions``, ``metrics``, ``costs`` and
``provenance`` may be empty.
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


class FusionSource(_Small):
    """How methods on all layers of one pair compare: the URIs of comparison and predictions, or the reason why there are none.

    ``seconds_per_image`` are measured times by method, which no result file holds. ``horizontal``: ``backbone`` names several,
    and their last layers are compared with all of them together.
    """

    dataset: str
    backbone: str
    horizontal: bool = False
    comparison: str | None = None
    predictions: str | None = None
    failed: str | None = None
    seconds_per_image: dict[str, float] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _made_or_failed(self) -> FusionSource:
        given = [self.comparison, self.predictions]
        if (self.failed is None) != all(given) or (self.failed is not None and any(given)):
            raise ValueError(
                f"{self.dataset} × {self.backbone} must give either comparison and predictions (they were made) or failed (the reason), "
                f"got {self.model_dump(exclude_none=True)}."
            )
        return self


class ShiftSource(_Small):
    """What the classifiers of one pair do under shift: the URI of the figures, or the reason why they cannot be shown."""

    dataset: str
    backbone: str
    evaluation: str | None = None
    failed: str | None = None

    @model_validator(mode="after")
    def _made_or_failed(self) -> ShiftSource:
        if (self.evaluation is None) == (self.failed is None):
            raise ValueError(
                f"{self.dataset} × {self.backbone} must give either evaluation (it was made) or failed (the reason), "
                f"got {self.model_dump(exclude_none=True)}."
            )
        return self


class DirectionSource(_Small):
    """To which directions and tokens the decoders of one pair react: the URI of the figures, or the reason why they cannot be shown."""

    dataset: str
    backbone: str
    figures: str | None = None
    failed: str | None = None

    @model_validator(mode="after")
    def _made_or_failed(self) -> DirectionSource:
        if (self.figures is None) == (self.failed is None):
            raise ValueError(
                f"{self.dataset} × {self.backbone} must give either figures (they were made) or failed (the reason), "
                f"got {self.model_dump(exclude_none=True)}."
            )
        return self


class MetricSource(_Small):
    """What models learnt of the directions and tokens of one pair: the URI of the figures, or the reason why they cannot be shown.

    ``seconds_per_image`` are measured times by decoder and layer, then by model, which no result file holds.
    """

    dataset: str
    backbone: str
    figures: str | None = None
    failed: str | None = None
    seconds_per_image: dict[str, dict[str, float]] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _made_or_failed(self) -> MetricSource:
        if (self.figures is None) == (self.failed is None):
            raise ValueError(
                f"{self.dataset} × {self.backbone} must give either figures (they were made) or failed (the reason), "
                f"got {self.model_dump(exclude_none=True)}."
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
    """What one stage of one pair took when it was computed: stored ``bytes``, and ``peak_bytes`` of the largest process."""

    stage: str
    dataset: str
    backbone: str
    seconds: float = Field(ge=0)
    bytes: int | None = Field(default=None, ge=0)
    peak_bytes: int | None = Field(default=None, ge=0)
    rows: int | None = Field(default=None, ge=0)


class RenderRequest(Request):
    """Everything that the page shows, by address."""

    task: ClassVar[str] = "render_report"

    profile: str
    title: str
    subject: str = ""
    combinations: tuple[CombinationSource, ...] = Field(min_length=1)
    datasets: tuple[DatasetNote, ...] = ()
    fusion: tuple[FusionSource, ...] = ()
    shift: tuple[ShiftSource, ...] = ()
    directions: tuple[DirectionSource, ...] = ()
    metrics: tuple[MetricSource, ...] = ()
    costs: tuple[StageCost, ...] = ()
    provenance: dict[str, Any] = Field(default_factory=dict)
    out: str

    @property
    def key(self) -> str:
        """Profile and place: what is reported where."""
        return f"report {self.profile} -> {self.out}"
