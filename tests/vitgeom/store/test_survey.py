from __future__ import annotations

import pytest

from tests.support import target_stores
from tests.support.feature_stores import describe, make_store
from vitgeom.store.survey import Survey, survey
from vitgeom.store.uri import Root


@pytest.fixture(params=["local_root", "memory_root"])
def root(request: pytest.FixtureRequest) -> Root:
    place: Root = request.getfixturevalue(request.param)
    return place


def test_a_place_that_holds_nothing_has_no_stores(root: Root) -> None:
    assert survey(root) == Survey((), ())


def test_stores_are_told_from_what_lies_among_them(root: Root) -> None:
    stores = sorted(
        make_store(root, description=describe(**changes)).address_path
        for changes in ({}, {"precision": "bfloat16"})
    )
    foreign = ("features/.DS_Store", "features/digits/nano/zz", "features/digits/nano/zzz.json")
    for key in (foreign[0], f"{foreign[1]}/deep/file", foreign[2]):
        root.write_bytes(key, b"mine")
    assert survey(root) == Survey(tuple(stores), foreign)


def test_done_markers_alone_are_a_store_that_lost_its_declaration(root: Root) -> None:
    root.write_bytes("features/digits/nano/00aa/done/train/0000000000-0000000004.json", b"{}")
    root.write_bytes("features/digits/nano/00bb/train/zarr.json", b"{}")
    assert survey(root) == Survey(("features/digits/nano/00aa",), ("features/digits/nano/00bb",))


def test_stores_of_targets_are_found_one_level_deeper(root: Root) -> None:
    found = target_stores.make_store(root).address_path
    root.write_bytes("targets/digits/nano/notes.txt", b"mine")
    assert survey(root) == Survey((found,), ("targets/digits/nano/notes.txt",))
