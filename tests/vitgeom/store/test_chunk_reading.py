from __future__ import annotations

import errno
import os

import numpy as np
import pytest

from tests.support.feature_stores import WITH_TOKENS, range_arrays, sealed_store
from tests.support.watched_objects import watched
from vitgeom.errors import CorruptData, StoreError
from vitgeom.store.chunk_reading import ChunkPlace, read_chunk
from vitgeom.store.features import open_features
from vitgeom.store.fingerprint import array_digest
from vitgeom.store.row_layout import ChunkPart
from vitgeom.store.schema import FEATURES
from vitgeom.store.uri import Root


def test_a_place_follows_from_the_layout(memory_root: Root) -> None:
    store = sealed_store(memory_root)
    place = ChunkPlace.of(FEATURES["cls"], ChunkPart(8, 10, 1), layout=store.layout, split="train")
    assert place == ChunkPlace("cls", "cls/c/2/1/0", "train", 8, 10, 1, 1)
    whole = ChunkPlace.of(FEATURES["group"], ChunkPart(0, 3, None), layout=store.layout, split="val")
    assert whole == ChunkPlace("group", "group/c/0", "val", 0, 3, None, None)


def test_a_place_among_chosen_layers_names_the_layer_of_the_backbone(memory_root: Root) -> None:
    store = sealed_store(memory_root, **WITH_TOKENS)
    place = ChunkPlace.of(FEATURES["tokens"], ChunkPart(4, 8, 1), layout=store.layout, split="train")
    assert place == ChunkPlace("tokens", "tokens/c/1/1/0/0", "train", 4, 8, 2, 1)


def test_the_committed_chunk_is_returned_and_any_other_refused(memory_root: Root) -> None:
    store = sealed_store(memory_root)
    spec = FEATURES["mean"]
    place = ChunkPlace.of(spec, ChunkPart(4, 8, 2), layout=store.layout, split="train")
    expected = range_arrays(store.layout, "train", 4, 8)["mean"][:, 2]
    values = read_chunk(store.array("train", spec), place=place, expected=array_digest(expected))
    np.testing.assert_array_equal(values, expected)
    with pytest.raises(CorruptData, match=r"\(rows 4:8, layer 2\): it is not the chunk that was committed"):
        read_chunk(store.array("train", spec), place=place, expected=array_digest(expected + 1))


def test_a_bit_flip_anywhere_in_a_chunk_is_found(memory_root: Root) -> None:
    store = sealed_store(memory_root)
    key = "val/cls_normed/c/0/0"
    data = store.root.read_bytes(key)
    for byte in range(len(data)):
        store.root.write_bytes(key, data[:byte] + bytes([data[byte] ^ (1 << byte % 8)]) + data[byte + 1 :])
        with pytest.raises(CorruptData, match="chunk cls_normed/c/0/0"):
            store.read("val", "cls_normed")
    store.root.write_bytes(key, data)
    assert store.read("val", "cls_normed").shape == (3, 5)


def test_a_chunk_cut_anywhere_is_found(memory_root: Root) -> None:
    store = sealed_store(memory_root)
    key = "val/label/c/0"
    data = store.root.read_bytes(key)
    for length in range(len(data)):
        store.root.write_bytes(key, data[:length])
        with pytest.raises(
            CorruptData, match=r"chunk label/c/0 .rows 0:3.: it is truncated or fails its checksum"
        ):
            store.read("val", "label")


def test_a_place_that_cannot_be_read_is_no_damage(local_root: Root) -> None:
    """Repair must not delete what is only out of reach."""
    address = sealed_store(local_root).address_path

    def fault(action: str, key: str) -> Exception | None:
        return OSError(errno.EIO, os.strerror(errno.EIO)) if action == "get" and "/c/" in key else None

    root, _ = watched(local_root, fault=fault)
    with pytest.raises(StoreError, match="Input/output error") as caught:
        open_features(root, address).read("train", "cls")
    assert not isinstance(caught.value, CorruptData)
