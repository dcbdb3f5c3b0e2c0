from __future__ import annotations

from pathlib import Path

from tests.support.watched_objects import WatchedObjects
from vitgeom.store.local_files import LocalFiles
from vitgeom.store.objects import Objects
from vitgeom.store.remote_objects import RemoteObjects
from vitgeom.store.uri import Root


def test_every_kind_of_place_is_one_of_objects(tmp_path: Path) -> None:
    local = LocalFiles(tmp_path)
    for place in (local, RemoteObjects("memory", "x", deadline=1.0), WatchedObjects(local)):
        assert isinstance(place, Objects)
    assert not isinstance(Root(tmp_path), Objects)
    assert not isinstance({}, Objects)


def test_a_root_over_own_objects_works_like_any_other(tmp_path: Path) -> None:
    root = Root.over(LocalFiles(tmp_path), uri="somewhere", prefix="below/")
    root.join("a").write_bytes("b", b"1")
    assert (tmp_path / "below" / "a" / "b").read_bytes() == b"1"
    assert root.join("a").uri == "somewhere/a"
