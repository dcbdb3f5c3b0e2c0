from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.support.feature_stores import make_store, range_arrays
from tests.support.watched_objects import watched
from vitgeom.errors import CorruptData, InvalidInput
from vitgeom.store.commit import Marker, Markers, checked_seconds, chunk_digests
from vitgeom.store.fingerprint import array_digest
from vitgeom.store.schema import FEATURES
from vitgeom.store.uri import Root

MARKER = Marker(
    split="train",
    start=4,
    stop=8,
    chunks={"cls": ["a" * 64], "label": ["b" * 64]},
    seconds=1.5,
    notes={"host": "x"},
)


def test_the_digest_depends_on_content_and_place_and_not_on_time_or_notes() -> None:
    assert replace(MARKER, seconds=9.0, notes={}).digest == MARKER.digest
    for other in (
        replace(MARKER, split="val"),
        replace(MARKER, start=0),
        replace(MARKER, stop=7),
        replace(MARKER, chunks={"cls": ["b" * 64], "label": ["a" * 64]}),
    ):
        assert other.digest != MARKER.digest


def test_a_marker_survives_json() -> None:
    assert Marker.from_json(MARKER.to_json(), where="here") == MARKER


@pytest.mark.parametrize(
    "key",
    ["split", "start", "stop", "rows", "digest", "chunks", "seconds", "notes", "peak_bytes", "checksum"],
)
def test_a_change_of_any_field_is_damage(key: str) -> None:
    value = MARKER.to_json()
    changed = {**value, key: {"other": 1} if isinstance(value[key], dict) else f"{value[key]}0"}
    missing = {name: item for name, item in value.items() if name != key}
    for broken in (changed, missing):
        with pytest.raises(CorruptData, match=r"done-marker here is damaged.*vitgeom repair"):
            Marker.from_json(broken, where="here")


@pytest.mark.parametrize("value", [None, [], "text", 3, {}])
def test_what_is_no_marker_is_damage(value: object) -> None:
    with pytest.raises(CorruptData, match="done-marker here is damaged"):
        Marker.from_json(value, where="here")


def test_one_digest_per_chunk(memory_root: Root) -> None:
    layout = make_store(memory_root).layout
    block = range_arrays(layout, "train", 0, 4)["cls"]
    digests = chunk_digests(block, spec=FEATURES["cls"], layout=layout)
    assert digests == [array_digest(np.ascontiguousarray(block[:, layer])) for layer in range(3)]
    labels = np.arange(4)
    assert chunk_digests(labels, spec=FEATURES["label"], layout=layout) == [array_digest(labels)]


def test_valid_markers_are_read_once_and_removed_ones_are_noticed(memory_root: Root) -> None:
    store = make_store(memory_root)
    for start, stop in store.ranges("train"):
        store.write_range("train", start, stop, range_arrays(store.layout, "train", start, stop), seconds=1.0)
    root, objects = watched(store.root)
    markers = Markers(root, store.layout)
    assert list(markers.valid("train")) == list(markers.valid("train")) == [0, 4, 8]
    assert list(objects.reads.values()) == [1, 1, 1]
    store.markers.remove("train", 4)
    assert list(markers.valid("train")) == [0, 8]


def test_the_marker_is_written_after_all_data(local_root: Root) -> None:
    store = make_store(local_root)
    order: list[str] = []

    def record(action: str, key: str) -> None:
        if action == "put":
            order.append(key)

    root, _ = watched(local_root, fault=record)
    again = make_store(root)
    order.clear()
    again.write_range("val", 0, 3, range_arrays(store.layout, "val", 0, 3), seconds=1.0)
    assert order[-1].endswith("done/val/0000000000-0000000003.json")
    assert sum("/done/" in key for key in order) == 1
    assert len(order) == 2 * 3 + 5 + 1


@pytest.mark.parametrize("seconds", [-0.1, float("nan"), float("inf")])
def test_a_duration_is_finite_and_not_negative(seconds: float) -> None:
    with pytest.raises(InvalidInput, match="seconds must be a finite duration >= 0"):
        checked_seconds(seconds)
