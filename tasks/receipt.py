"""Receipts: what a finished unit of work hands back. Addresses, digests and numbers, never arrays."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field


class Receipt(BaseModel):
    """Proof that one unit of work is stored.

    Attributes:
        task: Name of the task in the catalogue.
        key: Readable name of the unit.
        uri: Where the result lies.
        digest: Digest of the stored result; equal inputs give equal digests on every engine.
        seconds: Wall time of the computation.
        peak_bytes: Largest resident memory, in bytes, of the process that computed the result.
        cached: The result was there already and nothing was computed; time and memory are those of the run that computed it.
        rows: Samples that the unit covers.
        detail: Small JSON of the task's own: counts and figures.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    task: str
    key: str
    uri: str
    digest: str
    seconds: float = Field(ge=0)
    peak_bytes: int = Field(ge=0)
    cached: bool
    rows: int = Field(ge=0)
    detail: dict[str, Any] = Field(default_factory=dict)
