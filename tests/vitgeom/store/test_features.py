from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.support.feature_stores import SPLITS, describe, fill, make_store
from vitgeom.errors import InvalidInput
from vitgeom.store.features import create_features, open_features
from vitgeom.store.uri import Root


def test_a_store_tells_what_it_is(local_root: Root) -> None:
    store = make_store(local_root)
    for one in (
        store,
        open_features(local_root, store.address_path),
        open_features(local_root.uri, store.address_path),
    ):
        assert one.description == describe()
        assert one.splits == SPLITS
        assert (one.num_layers, one.width, one.rows_per_range) == (3, 5, 4)
        assert one.ranges("train") == [(0, 4), (4, 8), (8, 10)]


def test_opening_writes_nothing(local_root: Root) -> None:
    store = make_store(local_root)
    before = {path: path.stat().st_mtime_ns for path in Path(local_root.uri).rglob("*")}
    open_features(local_root, store.address_path).missing()
    assert {path: path.stat().st_mtime_ns for path in Path(local_root.uri).rglob("*")} == before


def test_the_driver_sweeps_what_dead_writers_left_and_workers_do_not(local_root: Root) -> None:
    store = make_store(local_root)
    left = Path(store.root.uri) / "train" / "cls" / "c" / "0" / ".0123456789ab-1-1-0.partial"
    left.parent.mkdir(parents=True)
    left.write_bytes(b"half")
    os.utime(left, (1.0, 1.0))
    open_features(local_root, store.address_path)
    assert left.exists()
    make_store(local_root)
    assert not left.exists()


def test_a_store_moved_elsewhere_is_still_whole(local_root: Root, tmp_path: Path) -> None:
    store = make_store(local_root)
    fill(store)
    manifest = store.seal()
    Path(local_root.uri).rename(tmp_path / "moved")
    assert open_features(tmp_path / "moved", store.address_path).manifest() == manifest


def test_impossible_shapes_are_refused_before_anything_is_written(local_root: Root) -> None:
    with pytest.raises(InvalidInput, match="width must be a whole number >= 1, got 0"):
        make_store(local_root, width=0)
    assert not Path(local_root.uri).exists()


def test_both_names_of_a_root_are_taken(tmp_path: Path) -> None:
    assert create_features.__annotations__["root"] == open_features.__annotations__["root"]
    store = make_store(str(tmp_path))
    assert open_features(tmp_path, store.address_path).missing() == store.missing()
