"""What a place for bytes must offer: whole objects under keys."""

from __future__ import annotations

from typing import Protocol, runtime_checkable


@runtime_checkable
class Objects(Protocol):
    """Whole objects under keys: what a place must offer. Errors come as the library below raises them."""

    def get(self, key: str) -> bytes | None:
        """Return the bytes, or None when there is no such object."""

    def put(self, key: str, data: bytes | memoryview, *, exclusive: bool = False) -> None:
        """Write the object whole; with ``exclusive`` raise FileExistsError when it is there (where the place can tell)."""

    def exists(self, key: str) -> bool:
        """Return True when there is such an object."""

    def children(self, key: str) -> list[str]:
        """Return the names directly below a prefix, in any order."""

    def remove(self, key: str, *, recursive: bool = False) -> None:
        """Remove an object or a prefix; nothing happens when it is not there."""

    def sweep(self, key: str) -> list[str]:
        """Remove what dead writers left half-written and return the keys."""
