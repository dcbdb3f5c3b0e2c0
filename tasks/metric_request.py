"""What training one learnt metric on a set of targets needs."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from tasks.request import Request
from vitgeom.metric.training import TrainingSettings
from vitgeom.store.fingerprint import fingerprint

METRIC_VERSION = 2
"""Part of every address: raise it when the meaning or the layout of the files changes."""

LearnerName = Literal["importance", "spn"]
"""``importance``: token importance alone; ``spn``: the Spectral Pullback Network, directions and energies."""

HOW = ("store", "trainer", "workers", "threads", "keep_bytes")
"""Fields that say how a model is trained, not what comes of it."""


class ModelSettings(BaseModel):
    """Sizes of a Spectral Pullback Network; see ``vitgeom.metric.SpectralPullbackNetwork``. The importance head has one size."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    hidden: int = Field(default=256, ge=1)
    heads: int = Field(default=4, ge=1)
    blocks: int = Field(default=2, ge=1)


class MetricRequest(Request):
    """One model on the targets at ``address``, which hold the splits train, val (decides which epoch) and test (judges).

    ``num_prefix`` tokens are no patches; ``grid`` says how the others lie, rows x columns. ``target`` is what the importance head learns: importance from the directions stored, or the untruncated block norms. ``rank`` is that of the
    network: at most the directions stored. ``training`` holds the fields of ``vitgeom.metric.training.TrainingSettings`` that are not left at
    their defaults; its seed is ``seed``.

    ``trainer="here"`` trains in the process of the unit, ``"ray"`` with Ray Train on ``workers`` workers: the same code, and on one worker
    the same bytes. ``keep_bytes``: targets are kept in memory up to so many bytes, and read batch by batch beyond.
    """

    task: ClassVar[str] = "train_metric"

    store: str
    address: str
    manifest_digest: str
    learner: LearnerName
    target: Literal["importance", "block_norms"] = "importance"
    rank: int = Field(ge=1)
    num_prefix: int = Field(ge=0)
    grid: tuple[int, int] | None = None
    model: ModelSettings = ModelSettings()
    training: dict[str, Any] = Field(default_factory=dict)
    seed: int = Field(default=0, ge=0)
    trainer: Literal["here", "ray"] = "here"
    workers: int = Field(default=1, ge=1)
    threads: int = Field(default=1, ge=1)
    keep_bytes: int = Field(default=2**31, ge=0)

    @field_validator("training")
    @classmethod
    def _known_settings(cls, value: dict[str, Any]) -> dict[str, Any]:
        if "seed" in value:
            raise ValueError("training must not hold a seed: it is a field of the request.")
        TrainingSettings.from_json(value)
        return value

    @model_validator(mode="after")
    def _workers_need_ray(self) -> MetricRequest:
        if self.workers > 1 and self.trainer != "ray":
            raise ValueError(
                f"workers must be 1 where trainer is 'here', got {self.workers}; several need trainer='ray'."
            )
        return self

    @property
    def key(self) -> str:
        """Address, model and seed."""
        return f"{self.address} {self.learner} seed {self.seed}"

    @property
    def settings(self) -> TrainingSettings:
        """How the model is trained."""
        return TrainingSettings.from_json({**self.training, "seed": self.seed})

    def content(self) -> dict[str, Any]:
        """Return what decides the result. Workers share each batch, so how many there are is not part of it."""
        content = self.model_dump(mode="json", exclude=set(HOW))
        if self.learner == "importance":
            content = {name: value for name, value in content.items() if name not in ("rank", "model")}
        content["training"] = self.settings.to_json()
        del content["training"]["device"]
        return content

    @property
    def path(self) -> str:
        """Place of the results below the store's root: ``metric/<data set>/<backbone>/<decoder>/<learner>-<fingerprint>``."""
        _, dataset, backbone, decoder, _ = self.address.split("/")
        content = {**self.content(), "version": METRIC_VERSION}
        content.pop("address")  # the manifest's digest says which targets; a moved store keeps its results
        return f"metric/{dataset}/{backbone}/{decoder}/{self.learner}-{fingerprint(content)[:16]}"
