"""Requests: everything that a unit of work needs, validated, as small JSON that can travel to any process.

A request holds addresses and numbers, never arrays: the unit opens the store, the data and the backbone itself.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

Token = Literal["cls", "mean"]
Precision = Literal["float32", "bfloat16", "float16"]
Storage = Literal["float32", "float16"]
LastLayer = Literal["normed", "raw"]


class Request(BaseModel):
    """Base of all requests: frozen, unknown fields refused, same fields -> same digest."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    task: ClassVar[str] = ""

    @property
    def key(self) -> str:
        """A readable name of this unit for progress lines and errors."""
        return f"{self.task}/{self.digest[:12]}"

    @property
    def digest(self) -> str:
        """SHA-256 over the task's name and all fields as canonical JSON."""
        fields = json.dumps(self.model_dump(mode="json"), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(f"{self.task}\x1f{fields}".encode()).hexdigest()


class ExtractSettings(BaseModel):
    """How layer features are taken; the part of ``params.yaml`` that extraction depends on.

    ``precision`` is that of the forward pass, ``storage`` that of the stored numbers. ``rows_per_range=None`` derives the
    rows per chunk from the data (see ``tasks.shards``). ``batch_size``, ``device`` and ``threads`` say how, not what.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    tokens: tuple[Token, ...] = ("cls", "mean")
    precision: Precision = "float32"
    storage: Storage = "float32"
    batch_size: int = Field(default=64, ge=1)
    rows_per_range: int | None = Field(default=None, ge=1)
    image_size: int | None = Field(default=None, ge=1)
    device: str = "cpu"
    threads: int = Field(default=1, ge=1)


class Footprint(BaseModel):
    """Sizes that decide the memory of one extraction unit; known when the work is planned."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    num_layers: int = Field(ge=1)
    width: int = Field(ge=1)
    num_tokens: int = Field(ge=1)
    image_pixels: int = Field(ge=1)
    weight_bytes: int = Field(ge=1)


class ExtractRequest(Request):
    """Layer features of rows [start, stop) of one split: whole ranges of the store at ``address``."""

    task: ClassVar[str] = "extract_features"

    store: str
    address: str
    split: str
    start: int = Field(ge=0)
    stop: int = Field(ge=1)
    dataset: dict[str, Any]
    backbone: dict[str, Any]
    precision: Precision = "float32"
    batch_size: int = Field(default=64, ge=1)
    device: str = "cpu"
    threads: int = Field(default=1, ge=1)
    footprint: Footprint

    @model_validator(mode="after")
    def _holds_rows(self) -> ExtractRequest:
        if self.stop <= self.start:
            raise ValueError(f"stop must be > start, got rows {self.start}:{self.stop}.")
        return self

    @property
    def key(self) -> str:
        """Address, split and rows: where the result lies."""
        return f"{self.address} {self.split}[{self.start}:{self.stop}]"


class ProbeRequest(Request):
    """One logistic probe per layer on the features at ``address`` (methods A2, A3).

    ``manifest_digest`` pins the content that the probes are fitted on. ``last_layer="normed"`` takes the last layer
    after the backbone's final norm (A1); ``"raw"`` the residual stream as it is.
    """

    task: ClassVar[str] = "fit_probes"

    store: str
    address: str
    manifest_digest: str
    token: Token = "cls"
    last_layer: LastLayer = "normed"
    l2: tuple[float, ...] | None = None
    tol: float = Field(default=1e-6, gt=0)
    max_iter: int = Field(default=500, ge=1)
    refit: bool = False
    num_bootstrap: int = Field(default=1000, ge=1)
    seed: int = 0
    threads: int = Field(default=1, ge=1)

    @property
    def key(self) -> str:
        """Address and token: what is probed."""
        return f"{self.address} {self.token}"
