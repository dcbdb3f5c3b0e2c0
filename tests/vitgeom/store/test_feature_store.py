from __future__ import annotations

import hashlib

import pytest

from tests.contracts.store import StoreContract
from tests.contracts.stored_tokens import StoredTokensContract
from tests.support.feature_stores import WITH_TOKENS, make_store, range_arrays, sealed_store, snapshot
from vitgeom.errors import InvalidInput, UnknownName
from vitgeom.store.uri import Root


class TestFolder(StoreContract, StoredTokensContract):
    @pytest.fixture
    def root(self, local_root: Root) -> Root:
        return local_root


class TestMemory(StoreContract, StoredTokensContract):
    @pytest.fixture
    def root(self, memory_root: Root) -> Root:
        return memory_root


@pytest.mark.services
class TestS3(StoreContract, StoredTokensContract):
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


def test_a_layer_without_stored_tokens_is_refused(local_root: Root) -> None:
    with pytest.raises(InvalidInput, match=r"array 'tokens' is not in this store.*extract with token_layers"):
        sealed_store(local_root).read("train", "tokens")
    store = sealed_store(local_root, **WITH_TOKENS)
    assert store.token_layers == (0, 2)
    with pytest.raises(
        InvalidInput,
        match=r"array 'tokens' holds the layers 0, 2 \(counted from 0\), not layer 1: extract with it",
    ):
        store.read("train", "tokens", layer=1)
    with pytest.raises(InvalidInput, match=r"layer must be 0\.\.2, got 3"):
        store.read("train", "tokens", layer=3)


def test_a_store_without_token_layers_is_the_one_that_was_written_before_there_were_any(
    memory_root: Root,
) -> None:
    store = sealed_store(memory_root)
    assert store.manifest().digest == "bd2671bb4b3d95586bd5def01287fece2d2b32341886826c6c7eea9ba615f04d"
    declared = hashlib.sha256(store.root.read_bytes("address.json")).hexdigest()
    assert declared == "5f2bae66a1066b25d5e5c911aad11a697e692dc1ba72b39092dc61c7e053af87"


@pytest.mark.parametrize("seconds", [-1.0, float("nan"), float("inf")])
def test_a_duration_must_be_one(local_root: Root, seconds: float) -> None:
    store = make_store(local_root)
    with pytest.raises(InvalidInput, match="seconds must be a finite duration"):
        store.write_range("val", 0, 3, range_arrays(store.layout, "val", 0, 3), seconds=seconds)
    assert store.marker("val", 0) is None
