from __future__ import annotations

from collections import Counter

import pytest

from vitgeom.data.folder_scan import Candidate
from vitgeom.data.folder_splits import assign_splits


def _images(counts: dict[tuple[str, str | None], int]) -> list[Candidate]:
    return [
        Candidate(f"{split}/{name}/{k}", name, split)
        for (name, split), count in counts.items()
        for k in range(count)
    ]


def _hashes(images: list[Candidate]) -> list[str]:
    return [item.path for item in images]


def test_given_splits_are_left_alone():
    images = _images({("a", "train"): 3, ("a", "val"): 2, ("b", "test"): 2, ("b", "train"): 1})
    placed, notes = assign_splits(images, _hashes(images), seed=0)
    assert placed == images
    assert notes == ("split by its folders",)


def test_open_splits_are_filled_and_nothing_else_changes():
    images = _images({("a", None): 10, ("b", None): 5})
    placed, _ = assign_splits(images, _hashes(images), seed=0)
    assert [item.path for item in placed] == [item.path for item in images]
    assert Counter((item.class_name, item.split) for item in placed) == {
        ("a", "train"): 6, ("a", "val"): 2, ("a", "test"): 2, ("b", "train"): 3, ("b", "val"): 1, ("b", "test"): 1,
    }  # fmt: skip
    assert images[0].split is None


def test_with_train_alone_both_others_are_taken_from_it():
    images = _images({("a", "train"): 10, ("b", "train"): 10})
    placed, notes = assign_splits(images, _hashes(images), seed=0)
    assert Counter(item.split for item in placed) == {"train": 12, "val": 4, "test": 4}
    assert notes[1] == "no usable val and no test folder: taken from train, 20 % of each class (seed 0)"


def test_images_of_other_splits_are_never_moved():
    images = _images({("a", "train"): 10, ("a", "test"): 4})
    placed, _ = assign_splits(images, _hashes(images), seed=0)
    assert all(
        (old.split == "test") == (new.split == "test") for old, new in zip(images, placed, strict=True)
    )


@pytest.mark.parametrize("seed", range(5))
def test_equal_files_of_a_class_stay_together(seed):
    images = _images({("a", None): 12, ("b", None): 12})
    hashes = [str(k % 4) for k in range(24)]
    placed, _ = assign_splits(images, hashes, seed=seed)
    where: dict[tuple[str, str], set[str | None]] = {}
    for item, digest in zip(placed, hashes, strict=True):
        where.setdefault((item.class_name, digest), set()).add(item.split)
    assert all(len(splits) == 1 for splits in where.values())
    assert len({item.split for item in placed}) == 3


def test_long_lists_of_singletons_are_cut_short():
    images = _images({(f"c{k:02d}", None): 1 for k in range(12)})
    placed, notes = assign_splits(images, _hashes(images), seed=0)
    assert {item.split for item in placed} == {"train"}
    assert (
        notes[1]
        == f"12 classes with a single image, kept in train: {', '.join(f'c{k:02d}' for k in range(10))}, ..."
    )
