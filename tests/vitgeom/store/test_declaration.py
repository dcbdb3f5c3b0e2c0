from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.support.feature_stores import SPLITS, address_of, describe, make_store, sealed_store, snapshot
from vitgeom.errors import CorruptData, InvalidInput, StoreError
from vitgeom.store.declaration import DECLARATION, Declaration, load_declaration
from vitgeom.store.features import create_features, open_features
from vitgeom.store.fingerprint import fingerprint
from vitgeom.store.uri import Root


def test_the_declaration_is_read_back(memory_root: Root) -> None:
    store = make_store(memory_root)
    found = load_declaration(store.root, address_path=store.address_path)
    assert found == Declaration(description=describe(), layout=store.layout)


def test_a_creation_that_was_interrupted_is_completed(memory_root: Root) -> None:
    store = make_store(memory_root)
    whole = snapshot(memory_root)
    for key in ("train/zarr.json", "train/cls/zarr.json", "val/label/zarr.json"):
        store.root.remove(key)
    make_store(memory_root)
    assert snapshot(memory_root) == whole


def test_every_difference_is_listed(memory_root: Root) -> None:
    store = make_store(memory_root)
    before = snapshot(memory_root)
    changes: dict[str, Any] = {
        "num_layers": 4,
        "width": 6,
        "sample_id_width": 9,
        "splits": {"train": 10, "test": 3},
    }
    with pytest.raises(
        StoreError, match="is occupied by a store of another shape or description; nothing was overwritten"
    ) as caught:
        make_store(memory_root, **changes)
    for words in (
        "layout.num_layers: there 3, asked 4",
        "layout.width: there 5, asked 6",
        "layout.sample_id_width: there 24, asked 9",
        "layout.splits.test: there nothing, asked 3",
        f"layout.splits.val: there {SPLITS['val']}, asked nothing",
    ):
        assert words in str(caught.value)
    assert "checksum" not in str(caught.value)
    assert snapshot(memory_root) == before
    assert store.missing()


def test_another_description_under_the_same_beginning_is_refused(memory_root: Root) -> None:
    """Only possible when 16 hex digits collide or somebody copies a store: still nothing is mixed."""
    store = make_store(memory_root)
    other = json.loads(store.root.read_bytes(DECLARATION))
    other["description"]["precision"] = "bfloat16"
    other["checksum"] = fingerprint({key: other[key] for key in other if key != "checksum"})
    store.root.write_json(DECLARATION, other)
    with pytest.raises(StoreError, match=r"description\.precision: there bfloat16, asked float32"):
        make_store(memory_root)
    with pytest.raises(CorruptData, match=r"address\.json is damaged"):
        open_features(memory_root, store.address_path)


def test_an_address_of_another_description_is_refused(memory_root: Root) -> None:
    with pytest.raises(InvalidInput, match=r"make the address with FeatureAddress\.of"):
        create_features(
            memory_root,
            address_of(describe(precision="bfloat16")),
            description=describe(),
            splits=SPLITS,
            num_layers=1,
            width=1,
            storage_dtype="float32",
            rows_per_range=1,
            sample_id_width=1,
        )
    assert memory_root.list() == []


@pytest.mark.parametrize(
    "break_it",
    [
        lambda data: data[:-20],
        lambda data: b"",
        lambda data: b"[]",
        lambda data: data.replace(b'"width": 5', b'"width": 6'),
        lambda data: data.replace(b'"checksum"', b'"check"'),
    ],
)
def test_a_damaged_declaration_is_named_with_the_way_out(
    memory_root: Root, break_it: Callable[[bytes], bytes]
) -> None:
    store = sealed_store(memory_root)
    data = store.root.read_bytes(DECLARATION)
    broken = break_it(data)
    assert broken != data
    store.root.write_bytes(DECLARATION, broken)
    for use in (lambda: open_features(memory_root, store.address_path), lambda: make_store(memory_root)):
        with pytest.raises(CorruptData, match=r"address\.json is damaged.*Remove (it|that one file) and run"):
            use()
    store.root.remove(DECLARATION)
    again = make_store(memory_root)
    assert again.missing() == []
    assert again.seal() == store.manifest()


def test_another_schema_version_is_told_apart_from_damage(memory_root: Root) -> None:
    store = make_store(memory_root)
    value = json.loads(store.root.read_bytes(DECLARATION))
    value["schema"] = 99
    value["checksum"] = fingerprint({key: value[key] for key in value if key != "checksum"})
    store.root.write_json(DECLARATION, value)
    with pytest.raises(
        StoreError, match="was written under schema version 99, this version of vitgeom reads 1"
    ):
        open_features(memory_root, store.address_path)
