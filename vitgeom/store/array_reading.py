"""Putting rows together from committed chunks, several at a time, each checked against its done-marker."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from vitgeom.store.chunk_reading import ChunkPlace, read_chunk
from vitgeom.store.commit import Marker, committed_chunks
from vitgeom.store.row_layout import ChunkPart, RowLayout
from vitgeom.store.schema import ArraySpec

_PARALLEL_CHUNKS = 8


def read_rows(
    array: Any,
    *,
    spec: ArraySpec,
    layout: RowLayout,
    markers: Mapping[int, Marker],
    split: str,
    rows: np.ndarray,
    place: int | None,
) -> np.ndarray:
    """Return chosen rows of an array; only the chunks that hold them are read.

    Memory: the result and a few chunks.

    Args:
        array: The opened Zarr array.
        spec: What it is.
        layout: Its ranges and chunks.
        markers: The markers of the split by first row.
        split: Its name.
        rows: Row numbers, int64 [m].
        place: Where the wanted layer stands on the axis of layers, or None for everything.

    Raises:
        CorruptData: A chunk is damaged.
    """
    tail = layout.shape(spec, 1)[1 if place is None else 2 :]
    out = np.empty((len(rows), *tail), dtype=spec.numpy_dtype(layout.storage_dtype))
    step = layout.chunk_rows(spec)
    starts = rows // step * step

    def fill(part: ChunkPart, expected: str) -> None:
        at = ChunkPlace.of(spec, part, layout=layout, split=split)
        values = read_chunk(array, place=at, expected=expected)
        here = np.flatnonzero(starts == part.start)
        out[(here, part.place) if place is None and part.place is not None else here] = values[
            rows[here] - part.start
        ]

    wanted = _committed(spec, layout=layout, markers=markers, starts=starts, place=place)
    with ThreadPoolExecutor(_PARALLEL_CHUNKS) as pool:
        jobs = [pool.submit(fill, part, expected) for part, expected in wanted]
        try:
            for job in jobs:
                job.result()
        except BaseException:
            pool.shutdown(wait=True, cancel_futures=True)
            raise
    return out


def _committed(
    spec: ArraySpec,
    *,
    layout: RowLayout,
    markers: Mapping[int, Marker],
    starts: np.ndarray,
    place: int | None,
) -> Iterator[tuple[ChunkPart, str]]:
    """Yield the chunks that begin at some rows, with the digests of their done-markers."""
    wanted = {int(start) for start in np.unique(starts)}
    for first in sorted({start // layout.rows_per_range * layout.rows_per_range for start in wanted}):
        for part, expected in committed_chunks(markers[first], spec=spec, layout=layout):
            if part.start in wanted and place in (None, part.place):
                yield part, expected
