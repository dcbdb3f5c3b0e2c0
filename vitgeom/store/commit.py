"""Done-markers: a row range counts only when its marker, written after the data, is there and whole."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from vitgeom.errors import CorruptData, InvalidInput
from vitgeom.store.fingerprint import array_digest, fingerprint
from vitgeom.store.row_layout import ChunkPart, RowLayout
from vitgeom.store.schema import ArraySpec
from vitgeom.store.uri import Root

_FOLDER = "done"
_NAME = re.compile(r"^(\d{10})-(\d{10})\.json$")
_PARALLEL_READS = 8


@dataclass(frozen=True)
class Marker:
    """The record of one finished range.

    Attributes:
        split: Its split.
        start: First row.
        stop: Row after the last.
        chunks: Per array the digests of its chunks, layer by layer.
        seconds: Time spent. Time and memory are the only things that may differ between two runs.
        notes: Small JSON values of the writer.
        peak_bytes: Largest memory of the process so far; 0 where nobody measured it.
    """

    split: str
    start: int
    stop: int
    chunks: Mapping[str, Sequence[str]]
    seconds: float
    notes: Mapping[str, Any]
    peak_bytes: int = 0

    @property
    def digest(self) -> str:
        """Digest of the range's content: rows and values, not time or memory."""
        chunks = {name: list(digests) for name, digests in self.chunks.items()}
        return fingerprint({"split": self.split, "start": self.start, "stop": self.stop, "chunks": chunks})

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values with a checksum over all of them."""
        value = {
            "split": self.split,
            "start": self.start,
            "stop": self.stop,
            "rows": self.stop - self.start,
            "digest": self.digest,
            "chunks": {name: list(digests) for name, digests in self.chunks.items()},
            "seconds": float(self.seconds),
            "notes": dict(self.notes),
            "peak_bytes": int(self.peak_bytes),
        }
        return {**value, "checksum": fingerprint(value)}

    @classmethod
    def from_json(cls, value: Any, *, where: str) -> Marker:
        """Return the marker that :meth:`to_json` wrote.

        Args:
            value: What was read.
            where: Its URI, for the message.

        Raises:
            CorruptData: The record is not whole.
        """
        try:
            rest = {key: item for key, item in value.items() if key != "checksum"}
            whole = value["checksum"] == fingerprint(rest)
            marker = cls(
                **{
                    key: rest[key]
                    for key in ("split", "start", "stop", "chunks", "seconds", "notes", "peak_bytes")
                }
            )
            whole = whole and marker.digest == rest["digest"]
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise CorruptData(_damaged(where)) from error
        if not whole:
            raise CorruptData(_damaged(where))
        return marker


def chunk_digests(block: np.ndarray, *, spec: ArraySpec, layout: RowLayout) -> list[str]:
    """Return the digest of each chunk of one range of an array, layer by layer.

    Args:
        block: The range's values in the dtype of the disk, rows first.
        spec: Which array.
        layout: How it is cut.
    """
    parts = layout.parts(spec, 0, len(block))
    return [array_digest(block[part.start : part.stop][_of(part)]) for part in parts]


def _of(part: ChunkPart) -> Any:
    """Return the index that cuts the layer of a part out of its rows."""
    return ... if part.place is None else (slice(None), part.place)


def committed_chunks(
    marker: Marker, *, spec: ArraySpec, layout: RowLayout
) -> Iterator[tuple[ChunkPart, str]]:
    """Yield the chunks of an array that a marker vouches for, with their digests.

    Args:
        marker: Of one range.
        spec: Which array.
        layout: How it is cut.
    """
    yield from zip(layout.parts(spec, marker.start, marker.stop), marker.chunks[spec.name], strict=True)


class Markers:
    """The markers of one feature store, below ``done/<split>/``. A valid marker never changes, so it is read once."""

    def __init__(self, root: Root, layout: RowLayout) -> None:
        self._root = root
        self._layout = layout
        self._known: dict[tuple[str, int], Marker] = {}

    def key(self, split: str, start: int) -> str:
        """Return the key of a range's marker below the store."""
        stop = min(start + self._layout.rows_per_range, self._layout.rows(split))
        return f"{_FOLDER}/{split}/{start:010d}-{stop:010d}.json"

    def read(self, split: str, start: int) -> Marker | None:
        """Return a range's marker, or None when there is none.

        Raises:
            CorruptData: The marker is there but damaged.
        """
        data = self._root.get(self.key(split, start))
        if data is None:
            return None
        where = f"{self._root.uri}/{self.key(split, start)}"
        marker = Marker.from_json(_parsed(data, where), where=where)
        expected = self._layout.rows(split)
        if (marker.split, marker.start, marker.stop) != (
            split,
            start,
            min(start + self._layout.rows_per_range, expected),
        ):
            raise CorruptData(_damaged(where))
        return marker

    def valid(self, split: str) -> dict[int, Marker]:
        """Return the valid markers of a split by their first row; damaged ones count as absent."""
        starts = [start for start, _ in self._layout.ranges(split)]
        present = {
            int(match[1]) for name in self._root.list(f"{_FOLDER}/{split}") if (match := _NAME.match(name))
        }
        unread = [start for start in starts if start in present and (split, start) not in self._known]
        with ThreadPoolExecutor(_PARALLEL_READS) as pool:
            for start, marker in zip(
                unread, pool.map(lambda at: self._read_or_none(split, at), unread), strict=True
            ):
                if marker is not None:
                    self._known[split, start] = marker
        return {
            start: self._known[split, start]
            for start in starts
            if start in present and (split, start) in self._known
        }

    def write(self, marker: Marker) -> None:
        """Write a marker; the data must be in place already."""
        self._root.write_json(self.key(marker.split, marker.start), marker.to_json())
        self._known[marker.split, marker.start] = marker

    def remove(self, split: str, start: int) -> None:
        """Remove a marker, so that its range counts as missing."""
        self._known.pop((split, start), None)
        self._root.remove(self.key(split, start))

    def forget(self) -> None:
        """Read every marker anew at the next question."""
        self._known.clear()

    def _read_or_none(self, split: str, start: int) -> Marker | None:
        try:
            return self.read(split, start)
        except CorruptData:
            return None


def checked_seconds(seconds: float) -> float:
    """Return a duration after checking it.

    Raises:
        InvalidInput: It is negative or not finite.
    """
    if not 0 <= float(seconds) < float("inf"):
        raise InvalidInput(f"seconds must be a finite duration >= 0, got {seconds}.")
    return float(seconds)


def _parsed(data: bytes, where: str) -> Any:
    try:
        return json.loads(data)
    except ValueError as error:
        raise CorruptData(_damaged(where)) from error


def _damaged(where: str) -> str:
    return f"done-marker {where} is damaged: its content does not match its checksum. Run `vitgeom repair`, then the command again."
