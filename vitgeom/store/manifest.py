"""The manifest of a sealed store: one small record with the root digest, the same bytes whichever engine did the work."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from vitgeom.errors import CorruptData
from vitgeom.store.commit import Marker
from vitgeom.store.fingerprint import fingerprint

MANIFEST = "manifest.json"


@dataclass(frozen=True)
class Manifest:
    """What a complete feature store holds.

    Attributes:
        digest: Root digest over everything below.
        address: Path of the store below its root.
        description: What determines the numbers.
        splits: Per split its rows ``n`` and the ``digest`` of its content.
    """

    digest: str
    address: str
    description: Mapping[str, Any]
    splits: Mapping[str, Mapping[str, Any]]

    @classmethod
    def of(
        cls, *, address: str, description: Mapping[str, Any], markers: Mapping[str, Mapping[int, Marker]]
    ) -> Manifest:
        """Return the manifest of a complete store.

        Args:
            address: Path of the store below its root.
            description: What determines the numbers.
            markers: Per split the valid markers of all its ranges by first row.
        """
        splits = {
            name: {
                "n": sum(marker.stop - marker.start for marker in by_start.values()),
                "digest": fingerprint([by_start[start].digest for start in sorted(by_start)]),
            }
            for name, by_start in sorted(markers.items())
        }
        content = {"address": address, "description": dict(description), "splits": splits}
        return cls(digest=fingerprint(content), address=address, description=dict(description), splits=splits)

    @property
    def num_rows(self) -> int:
        """Rows of all splits together."""
        return sum(int(split["n"]) for split in self.splits.values())

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values; no times."""
        return {
            "digest": self.digest,
            "address": self.address,
            "description": dict(self.description),
            "splits": {name: dict(split) for name, split in self.splits.items()},
            "rows": self.num_rows,
        }

    @classmethod
    def from_json(cls, value: Any) -> Manifest:
        """Return the manifest that :meth:`to_json` wrote.

        Raises:
            CorruptData: The record does not match its own digest.
        """
        try:
            manifest = cls(**{key: value[key] for key in ("digest", "address", "description", "splits")})
            content = {key: value[key] for key in ("address", "description", "splits")}
            whole = manifest.digest == fingerprint(content) and value["rows"] == manifest.num_rows
        except (KeyError, TypeError, ValueError) as error:
            raise CorruptData(_damaged(value)) from error
        if not whole:
            raise CorruptData(_damaged(value))
        return manifest


def _damaged(value: Any) -> str:
    place = value.get("address", "?") if isinstance(value, dict) else "?"
    return f"manifest of {place} is damaged: its content does not match its digest. Run `vitgeom repair`, then seal again."
