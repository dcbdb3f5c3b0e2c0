from __future__ import annotations

import numpy as np
import pytest

from vitgeom.data import DATASETS, DatasetRef, open_dataset
from vitgeom.errors import InvalidInput, UnknownName

BUILT_IN = [DatasetRef(name) for name in ("digits", "photos", "scenes", "noise", "spurious_scenes")]
by_dataset = pytest.mark.parametrize("ref", BUILT_IN, ids=lambda ref: ref.name)


@by_dataset
def test_each_dataset_keeps_the_agreement(ref):
    data, again = open_dataset(ref), open_dataset(ref)
    assert data.name == ref.name
    assert len(data.digest) == 64
    assert data.digest == again.digest
    assert "\n" not in data.source
    assert 0 < data.chance <= 0.5
    names = []
    for name, split in data.splits.items():
        names += split.sample_ids
        last = len(split) - 1
        assert split.read(last).mode == "RGB"
        np.testing.assert_array_equal(np.asarray(split.read(last)), np.asarray(again.splits[name].read(last)))
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("name", ["digits", "photos", "scenes"])
def test_each_embedded_dataset_is_large_enough(name):
    data = open_dataset(DatasetRef(name))
    assert sum(len(split) for split in data.splits.values()) >= 1500
    assert len(data.classes) >= 8
    assert len(data.splits["test"]) >= 300


def test_options_reach_the_opener():
    data = open_dataset(DatasetRef.from_options("noise", n=20, classes=4, size=8))
    assert len(data.splits["train"]) == 12
    assert data.splits["train"].read(0).size == (8, 8)
    plain = open_dataset(DatasetRef.from_options("scenes", train=2, val=2, test=2, size=16, noise=0))
    assert (
        plain.digest
        != open_dataset(DatasetRef.from_options("scenes", train=2, val=2, test=2, size=16)).digest
    )


def test_unknown_names_and_options_are_refused_with_the_nearest_one():
    with pytest.raises(
        UnknownName,
        match=r"unknown dataset 'digit'.*Did you mean 'digits'.*DatasetRef.from_options\('folder'",
    ):
        open_dataset(DatasetRef("digit"))
    with pytest.raises(UnknownName, match=r"unknown option of dataset 'noise' 'sice'.*Did you mean 'size'"):
        open_dataset(DatasetRef.from_options("noise", sice=8))
    with pytest.raises(UnknownName, match="Did you mean 'max_distance'"):
        open_dataset(DatasetRef.from_options("scenes", max_distanc=8))
    with pytest.raises(InvalidInput, match="option 'root' of dataset 'folder' is missing"):
        open_dataset(DatasetRef("folder"))


def test_the_list_is_closed():
    assert sorted(DATASETS) == ["digits", "folder", "noise", "photos", "scenes", "spurious_scenes"]
