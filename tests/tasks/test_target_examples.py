"""Examples out of a store: the same batches from memory as from disk, at the rank that is asked for."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from tasks.pinned_targets import pinned_targets
from tasks.target_examples import DIRECTIONS, LEAST, TargetExamples, split_bytes
from tests.support.target_stores import fill, make_store
from vitgeom.errors import IncompleteData, InvalidInput
from vitgeom.metric.training import Examples
from vitgeom.store.targets import TargetStore
from vitgeom.store.uri import Root

NAMES = {**LEAST, **DIRECTIONS, "importance": "block_norms"}


@pytest.fixture
def store(tmp_path: Path) -> TargetStore:
    made = make_store(Root(tmp_path), storage_dtype="float16")
    fill(made)
    made.seal()
    return made


def examples(store: TargetStore, *, keep_bytes: int = 2**20) -> TargetExamples:
    return TargetExamples(store, "train", names=NAMES, keep_bytes=keep_bytes)


def test_memory_and_disk_give_the_same_batches(store: TargetStore) -> None:
    rows = torch.tensor([4, 0, 3])
    kept, read = examples(store), examples(store, keep_bytes=0)
    assert isinstance(kept, Examples)
    assert kept.num_images == 5
    assert kept.sample_ids[0] == "train/0"
    one, other = kept.batch(rows), read.batch(rows)
    assert one.keys() == set(NAMES)
    for name in NAMES:
        assert torch.equal(one[name], other[name]), name
    assert one["features"].dtype == torch.float32
    assert one["num_found"].dtype == torch.int64


def test_values_are_those_of_the_store(store: TargetStore) -> None:
    batch = examples(store).batch(torch.tensor([2]))
    assert torch.equal(
        batch["importance"][0], torch.from_numpy(store.read("train", "block_norms")[2]).float()
    )


def test_bytes_are_those_of_float32(store: TargetStore) -> None:
    batch = examples(store).batch(torch.arange(5))
    floats = sum(array.nbytes for name, array in batch.items() if name != "num_found")
    assert split_bytes(store, "train", NAMES.values()) == floats + 4 * 5


def test_only_the_pinned_targets_are_opened(store: TargetStore, tmp_path: Path) -> None:
    digest = store.manifest().digest
    opened = pinned_targets(str(tmp_path), store.address_path, manifest_digest=digest)
    assert opened.splits == store.splits
    with pytest.raises(InvalidInput, match="manifest_digest"):
        pinned_targets(str(tmp_path), store.address_path, manifest_digest="0" * 64)


def test_targets_that_are_not_sealed_are_refused(tmp_path: Path) -> None:
    unsealed = make_store(Root(tmp_path))
    with pytest.raises(IncompleteData):
        pinned_targets(str(tmp_path), unsealed.address_path, manifest_digest="0" * 64)
