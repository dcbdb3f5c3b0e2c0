from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from tests.support.feature_stores import fill, make_store
from tests.support.watched_objects import watched
from vitgeom.errors import CorruptData
from vitgeom.store.arrays import array_metadata, group_metadata, open_array
from vitgeom.store.schema import FEATURES
from vitgeom.store.uri import Root


def test_metadata_is_zarr_version_3_without_shards_or_compression(memory_root: Root) -> None:
    layout = make_store(memory_root, storage_dtype="float16").layout
    document = json.loads(array_metadata(spec=FEATURES["mean"], layout=layout, rows=10))
    assert document["zarr_format"] == 3
    assert document["shape"] == [10, 3, 5]
    assert document["chunk_grid"] == {"name": "regular", "configuration": {"chunk_shape": [4, 1, 5]}}
    assert [codec["name"] for codec in document["codecs"]] == ["bytes", "crc32c"]
    assert document["fill_value"] == "NaN"
    assert document["dimension_names"] == ["n", "L", "D"]
    assert json.loads(group_metadata(split="val"))["attributes"] == {"split": "val", "schema": 1}


def test_a_chunk_is_the_plain_values_and_their_checksum(memory_root: Root) -> None:
    store = make_store(memory_root)
    fill(store)
    chunk = store.root.read_bytes("train/cls/c/1/2/0")
    assert len(chunk) == 4 * 5 * 4 + 4
    np.testing.assert_array_equal(
        np.frombuffer(chunk[:-4], "<f4").reshape(4, 5), store.read("train", "cls", layer=2, rows=slice(4, 8))
    )


def test_chunks_that_equal_the_fill_value_are_written_too(memory_root: Root) -> None:
    store = make_store(memory_root)
    array = store.array("train", FEATURES["label"])
    array[0:4] = np.zeros(4, dtype=np.int64)
    assert store.root.exists("train/label/c/0")


def test_writing_a_range_reads_no_chunk_even_the_short_last_one(local_root: Root) -> None:
    """A torn chunk that is there already can then never get in the way of writing it anew."""
    store = make_store(local_root)
    root, objects = watched(store.root.join("train"))
    array = open_array(root, spec=FEATURES["cls"], layout=store.layout, rows=10)
    objects.reads.clear()
    array[8:10] = np.ones((2, 3, 5), dtype=np.float32)
    assert not objects.reads
    assert len(objects.writes) == 3


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (b"10,\n    3", b"11,\n    3", r"shape is \(11, 3, 5\), expected \(10, 3, 5\)"),
        (b"4,\n        1,", b"2,\n        1,", r"chunks is \(2, 1, 5\), expected \(4, 1, 5\)"),
        (b'"float32"', b'"float64"', "dtype is float64, expected float32"),
        (b'"little"', b'"big"', "codecs is .*'big'"),
        (b'"L"', b'"layer"', "dims is .*'layer'"),
        (b'"NaN"', b"1.0", "fill is 1.0, expected nan"),
        (b'"zarr_format": 3', b'"zarr_format": 7', "it cannot be opened"),
        (b"{", b"", "it cannot be opened"),
    ],
)
def test_metadata_that_differs_is_named(memory_root: Root, old: bytes, new: bytes, words: str) -> None:
    store = make_store(memory_root)
    data = store.root.read_bytes("train/cls/zarr.json")
    assert old in data
    store.root.write_bytes("train/cls/zarr.json", data.replace(old, new, 1))
    with pytest.raises(
        CorruptData,
        match=f"metadata of array 'cls' at memory://.*/train/cls/zarr.json is damaged: .*{words}.*repair",
    ):
        _open(store)


def test_missing_metadata_is_named(memory_root: Root) -> None:
    store = make_store(memory_root)
    store.root.remove("train/cls/zarr.json")
    with pytest.raises(CorruptData, match=r"train/cls/zarr\.json is damaged: it cannot be opened"):
        _open(store)


def _open(store: Any) -> Any:
    return open_array(store.root.join("train"), spec=FEATURES["cls"], layout=store.layout, rows=10)
