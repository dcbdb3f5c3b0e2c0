"""The receipt of one range of rows of a store, from its done-marker."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from tasks.receipt import Receipt


class RangeRequest(Protocol):
    """A request for rows [start, stop) of the store at ``address``."""

    @property
    def task(self) -> str:
        """Name in the catalogue."""
        ...

    @property
    def key(self) -> str:
        """Readable name of the unit."""
        ...

    @property
    def store(self) -> str:
        """URI of the store's root."""
        ...

    @property
    def address(self) -> str:
        """Path below it."""
        ...

    @property
    def start(self) -> int:
        """First row."""
        ...

    @property
    def stop(self) -> int:
        """Row after the last."""
        ...


def range_receipt(request: RangeRequest, marker: Mapping[str, Any], *, cached: bool) -> Receipt:
    """Return the receipt of a committed range.

    Args:
        request: What was asked.
        marker: Its done-marker.
        cached: Whether it was there already.
    """
    return Receipt(
        task=request.task,
        key=request.key,
        uri=f"{request.store}/{request.address}",
        digest=marker["digest"],
        seconds=marker["seconds"],
        peak_bytes=marker["peak_bytes"],
        cached=cached,
        rows=request.stop - request.start,
        detail=dict(marker["notes"]),
    )
