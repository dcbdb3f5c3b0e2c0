from __future__ import annotations

import pytest

from tests.contracts.store import StoreContract
from tests.support.feature_stores import make_store, range_arrays, sealed_store, snapshot
from vitgeom.errors import InvalidInput, UnknownName
from vitgeom.store.uri import Root


class TestFolder(StoreContract):
    @pytest.fixture
    def root(self, local_root: Root) -> Root:
        return local_root


class TestMemory(StoreContract):
    @pytest.fixture
    def root(self, memory_root: Root) -> Root:
        return memory_root


@pytest.mark.services
class TestS3(StoreContract):
    @pytest.fixture
    def root(self, s3_root: Root) -> Root:
        return s3_root


@pytest.mark.services
def test_every_kind_of_place_holds_the_same_bytes(local_root: Root, memory_root: Root, s3_root: Root) -> None:
    stores = [sealed_store(root) for root in (local_root, memory_root, s3_root)]
    assert len({store.manifest().digest for store in stores}) == 1
    first, *others = [snapshot(store.root) for store in stores]
    assert all(other == first for other in others)


def test_readers_name_unknown_arrays_splits_and_layers(local_root: Root) -> None:
    store = sealed_store(local_root, tokens=("mean",))
    with pytest.raises(UnknownName, match=r"unknown feature array 'meen'\. Did you mean 'mean'"):
        store.read("train", "meen")
    with pytest.raises(InvalidInput, match=r"array 'cls' is not in this store.*extract with token 'cls'"):
        store.read("train", "cls")
    with pytest.raises(InvalidInput, match="split 'dev' is not in this store; it holds train, val"):
        store.read("dev", "mean")
    with pytest.raises(InvalidInput, match=r"layer must be 0\.\.2, got 3"):
        store.read("train", "mean", layer=3)
    with pytest.raises(InvalidInput, match=r"layer must be 0\.\.2, got -1"):
        store.read("train", "mean", layer=-1)
    with pytest.raises(InvalidInput, match="array 'label' has no layers"):
        store.read("train", "label", layer=0)


@pytest.mark.parametrize("seconds", [-1.0, float("nan"), float("inf")])
def test_a_duration_must_be_one(local_root: Root, seconds: float) -> None:
    store = make_store(local_root)
    with pytest.raises(InvalidInput, match="seconds must be a finite duration"):
        store.write_range("val", 0, 3, range_arrays(store.layout, "val", 0, 3), seconds=seconds)
    assert store.marker("val", 0) is None
