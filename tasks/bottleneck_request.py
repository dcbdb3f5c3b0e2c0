"""What training a bottleneck in front of a head needs."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import Field, field_validator

from tasks.request import Request
from tasks.target_request import Recipe
from vitgeom.metric.training import TrainingSettings
from vitgeom.store.fingerprint import fingerprint

BOTTLENECK_VERSION = 1
"""Part of every address: raise it when the meaning or the layout of the files changes."""

HOW = ("store", "trainer", "workers", "threads", "dataset", "backbone", "label")
"""Fields that say how and by what name, not what comes of it; digests stand for data and weights."""


class BottleneckRequest(Request):
    """A register bottleneck for the tokens that the head ``decoder`` reads, and what it does to the directions on test images.

    ``images`` names rows of the splits train, val (decides which epoch) and test (judges). ``registers`` x ``latent`` are its latents. ``rank``,
    ``recipe`` and ``budget`` are those of the diagnoses before and after.
    """

    task: ClassVar[str] = "train_bottleneck"

    store: str
    label: str
    dataset: dict[str, Any]
    dataset_digest: str
    backbone: dict[str, Any]
    weights_digest: str
    decoder: str
    metric: str
    images: dict[str, tuple[int, ...]]
    registers: int = Field(default=32, ge=1)
    latent: int = Field(default=128, ge=1)
    kl_weight: float = Field(default=6.0, ge=0)
    task_weight: float = Field(default=1.0, ge=0)
    rank: int = Field(ge=1)
    recipe: Recipe = "auto"
    budget: int = Field(ge=1)
    num_bootstrap: int = Field(default=1000, ge=1)
    training: dict[str, Any] = Field(default_factory=dict)
    seed: int = Field(default=0, ge=0)
    trainer: Literal["here", "ray"] = "here"
    workers: int = Field(default=1, ge=1)
    threads: int = Field(default=1, ge=1)

    @field_validator("training")
    @classmethod
    def _known_settings(cls, value: dict[str, Any]) -> dict[str, Any]:
        if "seed" in value:
            raise ValueError("training must not hold a seed: it is a field of the request.")
        TrainingSettings.from_json(value)
        return value

    @field_validator("images")
    @classmethod
    def _three_splits(cls, value: dict[str, tuple[int, ...]]) -> dict[str, tuple[int, ...]]:
        empty = [split for split in ("train", "val", "test") if not value.get(split)]
        if empty:
            raise ValueError(f"images must name at least one row of {', '.join(empty)}.")
        return value

    @property
    def key(self) -> str:
        """Cell, decoder and seed."""
        return f"{self.label} {self.decoder} bottleneck seed {self.seed}"

    @property
    def settings(self) -> TrainingSettings:
        """How it is trained."""
        return TrainingSettings.from_json({**self.training, "seed": self.seed})

    def content(self) -> dict[str, Any]:
        """Return what decides the result."""
        content = self.model_dump(mode="json", exclude=set(HOW))
        content["training"] = self.settings.to_json()
        del content["training"]["device"]
        return content

    @property
    def path(self) -> str:
        """Place of the results below the store's root: ``metric/<data set>/<backbone>/<decoder>/bottleneck-<fingerprint>``."""
        content = {**self.content(), "version": BOTTLENECK_VERSION}
        return f"metric/{self.label}/{self.decoder}/bottleneck-{fingerprint(content)[:16]}"
