from __future__ import annotations

import contextlib
import errno
import os
from pathlib import Path

import pytest

from tests.support.feature_stores import fill, keys, make_store, range_arrays, sealed_store, snapshot
from tests.support.watched_objects import watched
from vitgeom.errors import StoreError
from vitgeom.store.commit import Marker
from vitgeom.store.features import open_features
from vitgeom.store.integrity import Damage, repair, repair_declaration, verify, verify_declaration
from vitgeom.store.uri import Root

OBJECTS = [
    "train/cls/c/0/0/0",
    "train/zarr.json",
    "train/cls/zarr.json",
    "done/val/0000000000-0000000003.json",
    "manifest.json",
]


def test_rows_that_were_never_committed_are_no_damage(memory_root: Root) -> None:
    store = make_store(memory_root)
    assert verify(store) == []
    store.write_range("train", 4, 8, range_arrays(store.layout, "train", 4, 8), seconds=1.0)
    assert verify(store) == []
    assert repair(store) == []
    assert store.marker("train", 4) is not None


def test_every_single_object_is_watched(memory_root: Root) -> None:
    """Whichever object of a sealed store is lost, it is noticed, repaired, and the store is the same as before."""
    store = sealed_store(
        memory_root, splits={"train": 3}, rows_per_range=2, num_layers=1, width=2, tokens=("cls",)
    )
    whole = snapshot(memory_root)
    lost = [key for key in keys(store.root) if key not in ("address.json", "manifest.json")]
    assert len(lost) == 1 + 5 + 2 + 2 * 5
    for key in lost:
        store.root.remove(key)
        found = verify(store)
        assert [damage.chunk for damage in found] == [key]
        assert (found[0].split, found[0].stop > found[0].start) == ("train", True)
        assert repair(store) == found
        fill(store)
        store.seal()
        assert snapshot(memory_root) == whole


def test_a_consistent_forgery_of_chunk_and_marker_is_noticed_through_the_manifest(memory_root: Root) -> None:
    store = sealed_store(memory_root)
    forged = make_store(memory_root.join("forged"))
    arrays = range_arrays(store.layout, "val", 0, 3)
    forged.write_range("val", 0, 3, {**arrays, "cls": arrays["cls"] + 1}, seconds=1.0)
    for key in keys(forged.root):
        if key.startswith(("val/", "done/val/")):
            store.root.write_bytes(key, forged.root.read_bytes(key))
    reader = open_features(memory_root, store.address_path)
    assert verify(reader) == [
        Damage(None, "manifest.json", "", 0, 0, "the manifest does not belong to the done-markers beside it.")
    ]
    with pytest.raises(StoreError, match="was sealed with other content than its done-markers now say"):
        reader.seal()


def test_a_marker_that_claims_other_chunks_is_damage_of_those_chunks(memory_root: Root) -> None:
    store = sealed_store(memory_root)
    value = store.marker("val", 0)
    assert value is not None
    chunks = {**value["chunks"], "label": ["0" * 64]}
    lying = Marker(split="val", start=0, stop=3, chunks=chunks, seconds=1.0, notes={})
    store.root.write_json(store.markers.key("val", 0), lying.to_json())
    found = verify(open_features(memory_root, store.address_path))
    assert {(damage.array, damage.chunk) for damage in found} == {
        (None, "manifest.json"),
        ("label", "val/label/c/0"),
    }


def test_an_interrupted_repair_leaves_rows_missing_never_rows_that_only_seem_to_be_there(
    memory_root: Root,
) -> None:
    store = sealed_store(memory_root, splits={"train": 2, "val": 1}, rows_per_range=2, num_layers=1, width=2)
    whole = snapshot(memory_root)
    # The manifest, two markers, two chunks.
    for stop_after in range(5 + 1):
        store.root.write_bytes("train/cls/c/0/0/0", b"")
        store.root.write_bytes("val/mean/c/0/0/0", b"")
        assert _removals(memory_root, store.address_path, stop_after=stop_after) == stop_after
        after = open_features(memory_root, store.address_path)
        repair(after)
        fill(after)
        after.seal()
        assert verify(after) == []
        assert snapshot(memory_root) == whole


def _removals(root: Root, address: str, *, stop_after: int) -> int:
    done = 0

    def fault(action: str, key: str) -> Exception | None:
        nonlocal done
        if action != "remove":
            return None
        if done == stop_after:
            return OSError(errno.EIO, os.strerror(errno.EIO))
        done += 1
        return None

    place, _ = watched(root, fault=fault)
    with contextlib.suppress(StoreError):
        repair(open_features(place, address))
    return done


def test_what_is_out_of_reach_is_not_called_damage_and_nothing_is_deleted(local_root: Root) -> None:
    store = sealed_store(local_root)
    whole = snapshot(local_root)

    def fault(action: str, key: str) -> Exception | None:
        return (
            OSError(errno.EIO, os.strerror(errno.EIO))
            if action == "get" and key.endswith("label/c/1")
            else None
        )

    place, _ = watched(local_root, fault=fault)
    for act in (verify, repair):
        with pytest.raises(StoreError, match=r"cannot read .*label/c/1: Input/output error"):
            act(open_features(place, store.address_path))
    assert snapshot(local_root) == whole


@pytest.mark.parametrize("text", [b"{", b"[]", b"null", b"{}", b'{"node_type": "group", "zarr_format": 3}'])
def test_group_metadata_that_the_store_did_not_write_is_damage_and_is_written_again(
    memory_root: Root, text: bytes
) -> None:
    store = sealed_store(memory_root)
    whole = snapshot(memory_root)
    store.root.write_bytes("val/zarr.json", text)
    problem = "the metadata of the group is not what the store wrote."
    assert verify(store) == [Damage(None, "val/zarr.json", "val", 0, 3, problem)]
    repair(store)
    fill(store)
    store.seal()
    assert snapshot(memory_root) == whole


@pytest.mark.parametrize("key", OBJECTS)
def test_a_folder_in_the_place_of_an_object_is_damage_and_is_taken_out(local_root: Root, key: str) -> None:
    store = sealed_store(local_root)
    whole = snapshot(local_root)
    place = Path(store.root.uri, key)
    place.unlink()
    (place / "deep").mkdir(parents=True)
    assert [damage.chunk for damage in verify(store)] == [key]
    assert [damage.chunk for damage in repair(store)] == [key]
    fill(store)
    store.seal()
    assert snapshot(local_root) == whole


@pytest.mark.parametrize(("text", "problem"), [(b"{", "damaged"), (b"{}", "damaged"), (None, "missing")])
def test_a_declaration_that_is_not_whole_is_named_and_taken_out(
    memory_root: Root, text: bytes | None, problem: str
) -> None:
    store = sealed_store(memory_root)
    assert verify_declaration(memory_root, store.address_path) is None
    whole = snapshot(memory_root)
    store.root.remove("address.json")
    if text is not None:
        store.root.write_bytes("address.json", text)
    damage = verify_declaration(memory_root, store.address_path)
    assert damage is not None
    assert damage.chunk == "address.json"
    assert damage.problem.startswith(f"the declaration is {problem}, ")
    assert repair_declaration(memory_root, store.address_path) == damage
    make_store(memory_root)
    assert snapshot(memory_root) == whole
