"""Putting rows together from committed chunks, several at a time, each checked against its done-marker."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from vitgeom.store.chunk_reading import ChunkPlace, read_chunk
from vitgeom.store.commit import Marker
from vitgeom.store.layout import FeatureLayout
from vitgeom.store.schema import ArraySpec

_PARALLEL_CHUNKS = 8


def read_rows(
    array: Any,
    *,
    spec: ArraySpec,
    layout: FeatureLayout,
    markers: Mapping[int, Marker],
    split: str,
    rows: np.ndarray,
    layer: int | None,
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
        layer: One layer, or None for everything.

    Raises:
        CorruptData: A chunk is damaged.
    """
    tail = layout.shape(spec, 1)[1:] if layer is None else layout.shape(spec, 1)[2:]
    out = np.empty((len(rows), *tail), dtype=spec.numpy_dtype(layout.storage_dtype))
    starts = rows // layout.rows_per_range * layout.rows_per_range

    def fill(start: int, at: int | None) -> None:
        place = ChunkPlace.of(spec, layout=layout, split=split, start=start, layer=at)
        values = read_chunk(array, place=place, expected=markers[start].chunks[spec.name][at or 0])
        here = np.flatnonzero(starts == start)
        out[(here, at) if layer is None and at is not None else here] = values[rows[here] - start]

    layers = layout.layers(spec) if layer is None else [layer]
    with ThreadPoolExecutor(_PARALLEL_CHUNKS) as pool:
        jobs = [pool.submit(fill, int(start), at) for start in np.unique(starts) for at in layers]
        try:
            for job in jobs:
                job.result()
        except BaseException:
            pool.shutdown(wait=True, cancel_futures=True)
            raise
    return out
