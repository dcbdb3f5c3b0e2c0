"""The request of a sweep over rank and width of the Spectral Pullback Network."""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import Field, field_validator

from tasks.halving import Halving
from tasks.metric_request import METRIC_VERSION, MetricRequest, ModelSettings
from tasks.request import Request
from vitgeom.metric.training import TrainingSettings
from vitgeom.store.fingerprint import fingerprint


class RankSweepRequest(Request):
    """Networks of every rank × hidden width on the targets at ``address``, which hold at least the largest rank.

    Trials of one rank are compared after ``grace_epochs``, then ``reduction_factor`` times as many, and so on, by their alignment with the validation
    targets; between ranks alignments are not comparable, and every rank gets one trial to its end.
    """

    task: ClassVar[str] = "sweep_rank"

    store: str
    address: str
    manifest_digest: str
    ranks: tuple[int, ...] = Field(min_length=1)
    hidden: tuple[int, ...] = Field(min_length=1)
    heads: int = Field(default=4, ge=1)
    blocks: int = Field(default=2, ge=1)
    num_prefix: int = Field(ge=0)
    grid: tuple[int, int] | None = None
    training: dict[str, Any] = Field(default_factory=dict)
    seed: int = Field(default=0, ge=0)
    grace_epochs: int = Field(default=5, ge=1)
    reduction_factor: int = Field(default=2, ge=2)
    threads: int = Field(default=1, ge=1)
    keep_bytes: int = Field(default=2**31, ge=0)

    @field_validator("ranks", "hidden")
    @classmethod
    def _rising(cls, value: tuple[int, ...]) -> tuple[int, ...]:
        if list(value) != sorted(set(value)) or value[0] < 1:
            raise ValueError(f"must rise from 1 or more, each once, got {list(value)}")
        return value

    @property
    def key(self) -> str:
        """Address: what is swept."""
        return f"{self.address} ranks"

    @property
    def plan(self) -> list[dict[str, Any]]:
        """Parameters of every trial."""
        return [{"rank": rank, "hidden": hidden} for rank in self.ranks for hidden in self.hidden]

    @property
    def rule(self) -> Halving:
        """When trials of a rank are compared."""
        epochs = TrainingSettings.from_json(self.training).epochs
        return Halving(grace=self.grace_epochs, factor=self.reduction_factor, last=epochs)

    def trial(self, parameters: dict[str, Any]) -> MetricRequest:
        """Return one trial as a training of its own.

        Args:
            parameters: Of ``plan``.
        """
        return MetricRequest(
            learner="spn",
            rank=parameters["rank"],
            model=ModelSettings(hidden=parameters["hidden"], heads=self.heads, blocks=self.blocks),
            **self.model_dump(
                include={
                    "store",
                    "address",
                    "manifest_digest",
                    "num_prefix",
                    "grid",
                    "training",
                    "seed",
                    "threads",
                    "keep_bytes",
                }
            ),
        )

    def content(self) -> dict[str, Any]:
        """Return what decides the result."""
        content = self.model_dump(mode="json", exclude={"store", "threads", "keep_bytes"})
        content["training"] = TrainingSettings.from_json(self.training).to_json()
        del content["training"]["device"]
        return content

    @property
    def path(self) -> str:
        """Place of the results below the store's root: ``metric/<data set>/<backbone>/<decoder>/ranks-<fingerprint>``."""
        _, dataset, backbone, decoder, _ = self.address.split("/")
        content = {**self.content(), "version": METRIC_VERSION}
        content.pop("address")
        return f"metric/{dataset}/{backbone}/{decoder}/ranks-{fingerprint(content)[:16]}"
