from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.support import feature_stores
from tests.support.target_stores import SPLITS, describe, fill, make_store, range_arrays
from vitgeom.errors import (
    CorruptData,
    IncompleteData,
    InvalidInput,
    NumericalFailure,
    StoreError,
    UnknownName,
)
from vitgeom.store.any_store import open_store
from vitgeom.store.features import open_features
from vitgeom.store.integrity import repair, verify
from vitgeom.store.targets import TargetStore, open_targets
from vitgeom.store.uri import Root


@pytest.fixture(params=["local_root", "memory_root"])
def root(request: pytest.FixtureRequest) -> Root:
    place: Root = request.getfixturevalue(request.param)
    return place


def test_what_was_written_is_read(root: Root) -> None:
    store = make_store(root)
    fill(store)
    digest = store.seal().digest
    opened = open_targets(root, store.address_path)
    for split, rows in SPLITS.items():
        wanted = range_arrays(store.layout, split, 0, rows)
        for name in ("right_vectors", "singular_values", "importance", "num_found", "norm_squared"):
            assert np.array_equal(opened.read(split, name), wanted[name])
        assert opened.sample_ids(split) == wanted["sample_id"]
    assert opened.manifest().digest == digest
    assert store.address_path.startswith("targets/digits/nano/cls-layer3/")


def test_rows_are_read_in_the_order_wanted(root: Root) -> None:
    store = make_store(root)
    fill(store)
    everything = store.read("train", "right_vectors")
    assert np.array_equal(store.read("train", "right_vectors", rows=[4, 0, 3]), everything[[4, 0, 3]])


def test_an_incomplete_store_is_refused_by_readers(root: Root) -> None:
    store = make_store(root)
    store.write_range("train", 0, 2, range_arrays(store.layout, "train", 0, 2), seconds=0.0)
    with pytest.raises(IncompleteData, match="train 2:4"):
        store.read("train", "importance")


def test_what_is_not_finite_is_never_stored(root: Root) -> None:
    store = make_store(root)
    arrays = range_arrays(store.layout, "train", 0, 2)
    arrays["importance"][1, 3] = np.nan
    with pytest.raises(
        NumericalFailure, match="array 'importance' of split 'train' holds NaN or infinity in row 1"
    ):
        store.write_range("train", 0, 2, arrays, seconds=0.0)
    assert ("train", 0, 2) in store.missing()


def test_a_flipped_bit_is_found_and_repaired(local_root: Root) -> None:
    store = make_store(local_root)
    fill(store)
    store.seal()
    key = "train/right_vectors/c/1/0/0/0"
    data = bytearray(store.root.read_bytes(key))
    data[3] ^= 4
    store.root.write_bytes(key, bytes(data))
    with pytest.raises(CorruptData, match="right_vectors"):
        open_targets(local_root, store.address_path).read("train", "right_vectors")
    [damage] = verify(store)
    assert (damage.array, damage.split, damage.start) == ("right_vectors", "train", 2)
    repair(store)
    assert store.missing() == [("train", 2, 4)]
    fill(store)
    assert not verify(store)


def test_features_and_targets_are_not_taken_for_each_other(root: Root) -> None:
    targets, features = make_store(root), feature_stores.make_store(root)
    with pytest.raises(StoreError, match="holds targets, not features"):
        open_features(root, targets.address_path)
    with pytest.raises(StoreError, match="holds features, not targets"):
        open_targets(root, features.address_path)
    assert isinstance(open_store(root, targets.address_path), TargetStore)
    assert open_store(root, features.address_path).address_path == features.address_path


def test_another_rank_at_the_same_address_is_refused(root: Root) -> None:
    make_store(root)
    with pytest.raises(StoreError, match=r"layout\.rank: there 2, asked 3"):
        make_store(root, rank=3)


def test_an_unknown_array_and_a_layer_are_refused(root: Root) -> None:
    store = make_store(root)
    fill(store)
    with pytest.raises(UnknownName, match="Did you mean 'importance'"):
        store.read("train", "importanc")
    with pytest.raises(InvalidInput, match="'importance' has no layers"):
        store.read("train", "importance", layer=1)


def test_whatever_determines_the_numbers_changes_the_address(root: Root) -> None:
    addresses = {
        make_store(root, description=describe(**change)).address_path
        for change in (
            {},
            {"decoder": {"name": "cls", "layer": 4, "weights": None}},
            {"recipe": {"recipe": "exact"}},
            {"storage_dtype": "float16"},
            {"weights_digest": "f" * 64},
        )
    }
    assert len(addresses) == 5


@pytest.mark.parametrize("data", [None, b"{", b'{"images": [], "checksum": "x"}'])
def test_damaged_figures_are_found_and_made_anew(tmp_path: Path, data: bytes | None) -> None:
    store = make_store(Root(tmp_path))
    fill(store)
    store.seal()
    key = "figures/test/0000000002.json"
    if data is None:
        store.root.remove(key)
    else:
        store.root.write_bytes(key, data)
    [damage] = verify(store)
    assert (damage.array, damage.chunk, damage.split, damage.start) == (None, key, "test", 2)
    assert "figures" in damage.problem
    repair(store)
    assert store.missing() == [("test", 2, 3)]
    fill(store)
    store.seal()
    assert verify(store) == []
