"""Requests for figures under distribution shift: which fitted classifiers, on which shifted test set."""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import Field

from tasks.request import Request


class ShiftRequest(Request):
    """Every classifier that was fitted on one cell, asked about one shifted test set, or about the clean test split.

    ``fused`` says where the classifiers lie and ``fused_digest`` pins them; ``address`` and ``manifest_digest`` do the same for the features
    of the shifted test set, and ``dataset`` is the reference that these were extracted from. Token and layers are the classifiers' own.
    There is nothing about fitting here, because nothing is fitted.
    """

    task: ClassVar[str] = "evaluate_shift"

    store: str
    fused: str
    fused_digest: str
    address: str
    manifest_digest: str
    dataset: dict[str, Any]
    num_bootstrap: int = Field(default=1000, ge=1)
    seed: int = 0
    threads: int = Field(default=1, ge=1)

    @property
    def key(self) -> str:
        """Address of the features: what is evaluated on."""
        return f"{self.address} evaluated"

    def content(self) -> dict[str, Any]:
        """Return what decides the numbers: digests say what lies at places, and the manifest what the reference names."""
        return self.model_dump(mode="json", exclude={"store", "fused", "dataset", "threads"})
