from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.support.feature_stores import WITH_TOKENS, make_store, range_arrays, sealed_store
from tests.support.watched_objects import watched
from vitgeom.store import token_chunks
from vitgeom.store.features import open_features
from vitgeom.store.uri import Root


def _chunks_read(root: Root, address: str, *, name: str = "cls", **selection: Any) -> list[str]:
    place, objects = watched(root)
    open_features(place, address).read("train", name, **selection)
    read = {key.partition("/train/")[2]: times for key, times in objects.reads.items() if "/c/" in key}
    assert set(read.values()) <= {1}
    return sorted(read)


def test_one_layer_touches_only_the_chunks_of_that_layer(local_root: Root) -> None:
    address = sealed_store(local_root).address_path
    assert _chunks_read(local_root, address, layer=1) == ["cls/c/0/1/0", "cls/c/1/1/0", "cls/c/2/1/0"]


def test_some_rows_touch_only_the_ranges_that_hold_them(local_root: Root) -> None:
    address = sealed_store(local_root).address_path
    assert _chunks_read(local_root, address, layer=2, rows=[9, 8, 1]) == ["cls/c/0/2/0", "cls/c/2/2/0"]
    assert _chunks_read(local_root, address, rows=slice(4, 6)) == [
        "cls/c/1/0/0",
        "cls/c/1/1/0",
        "cls/c/1/2/0",
    ]
    assert _chunks_read(local_root, address, rows=[]) == []


def test_tokens_of_one_layer_and_some_rows_touch_only_the_parts_that_hold_them(
    local_root: Root, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(token_chunks, "TARGET_BYTES", 2 * 6 * 5 * 4)
    address = sealed_store(local_root, **WITH_TOKENS).address_path
    assert _chunks_read(local_root, address, name="tokens", layer=2, rows=[9, 8, 1]) == [
        "tokens/c/0/1/0/0",
        "tokens/c/4/1/0/0",
    ]
    assert _chunks_read(local_root, address, name="tokens", rows=slice(5, 7)) == [
        f"tokens/c/{part}/{place}/0/0" for part in (2, 3) for place in (0, 1)
    ]
    assert _chunks_read(local_root, address, name="tokens", rows=[]) == []


def _peak(work: Callable[[], object]) -> int:
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def _least_peak(action: Callable[[], object]) -> int:
    """Return the least of three peaks: what other threads of this process allocate meanwhile counts, too."""
    return min(_peak(action) for _ in range(3))


def test_memory_is_bounded_by_one_range_when_writing_and_by_the_result_when_reading(local_root: Root) -> None:
    rows, layers, width, ranges = 64, 4, 512, 32
    store = make_store(
        local_root,
        splits={"train": rows * ranges},
        rows_per_range=rows,
        num_layers=layers,
        width=width,
        tokens=("cls",),
    )
    arrays = range_arrays(store.layout, "train", 0, rows)
    one_range = arrays["cls"].nbytes

    def write_all() -> None:
        for start, stop in store.ranges("train"):
            store.write_range("train", start, stop, arrays, seconds=1.0)

    # Encoding copies what is under way; the whole store would be 32 ranges.
    assert _peak(write_all) < 3 * one_range

    one_chunk = one_range // layers
    layer = rows * ranges * width * 4
    reader = open_features(local_root, store.address_path)
    under_way = 8 * 3 * one_chunk
    assert _least_peak(lambda: reader.read("train", "cls", layer=0)) < layer + under_way
    few = np.arange(0, rows * ranges, rows)
    assert _least_peak(lambda: reader.read("train", "cls", layer=0, rows=few)) < under_way < layer
