"""Reading one committed chunk, and being sure that it is the one that was committed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from vitgeom.errors import CorruptData, StoreError
from vitgeom.store.fingerprint import array_digest
from vitgeom.store.row_layout import ChunkPart, RowLayout
from vitgeom.store.schema import ArraySpec

REMEDY = "Run `vitgeom repair`, then the command again: only these rows are recomputed."


@dataclass(frozen=True)
class ChunkPlace:
    """Where a chunk is, in the words of a message.

    Attributes:
        array: Name of the array.
        chunk: Key below the group of the split.
        split: The split.
        start: First row.
        stop: Row after the last.
        layer: Its layer, from 0, or None.
        place: Where that layer stands on the array's axis of layers, or None.
    """

    array: str
    chunk: str
    split: str
    start: int
    stop: int
    layer: int | None
    place: int | None

    @classmethod
    def of(cls, spec: ArraySpec, part: ChunkPart, *, layout: RowLayout, split: str) -> ChunkPlace:
        """Return where a part of a range is."""
        key = layout.chunk_key(spec, part.start, part.place)
        layer = None if part.place is None else layout.layers(spec)[part.place]
        return cls(spec.name, key, split, part.start, part.stop, layer, part.place)


def read_chunk(array: Any, *, place: ChunkPlace, expected: str) -> np.ndarray:
    """Return a committed chunk's values: [rows, N, D], [rows, D], [rows, W] or [rows].

    Args:
        array: The opened Zarr array.
        place: Which chunk.
        expected: Digest from the done-marker.

    Raises:
        CorruptData: The chunk is missing, fails its checksum, or is not the one that was committed.
        StoreError: The place cannot be read.
    """
    rows = slice(place.start, place.stop)
    try:
        values = np.asarray(array[rows] if place.place is None else array[rows, place.place])
    except CorruptData as error:
        folder = isinstance(error.__cause__, IsADirectoryError)
        raise _damaged(place, "a folder stands in its place" if folder else "it is missing") from error
    except StoreError:
        raise
    except Exception as error:
        raise _damaged(place, "it is truncated or fails its checksum") from error
    if array_digest(values) != expected:
        raise _damaged(place, "it is not the chunk that was committed (digest differs)")
    return values


def _damaged(place: ChunkPlace, problem: str) -> CorruptData:
    layer = "" if place.layer is None else f", layer {place.layer}"
    return CorruptData(
        f"array {place.array!r} of split {place.split!r} is damaged in chunk {place.chunk} (rows {place.start}:{place.stop}{layer}):"
        f" {problem}. {REMEDY}"
    )
