from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from vitgeom.data.dataset import SPLITS, ImageDataset, LabelledImages, Split
from vitgeom.errors import InvalidInput


def _split(labels: list[int], *, groups: int | None = None, dtype: type = np.int64) -> Split:
    count = len(labels)
    return Split(
        sample_ids=[f"s{row}" for row in range(count)],
        labels=np.array(labels, dtype=dtype),
        groups=np.full(count if groups is None else groups, -1, dtype=np.int64),
        read=lambda row: Image.new("RGB", (4, 4)),
    )


def _dataset(classes: tuple[str, ...] = ("a", "b"), **splits: Split) -> ImageDataset:
    return ImageDataset(
        "toy", "0", classes, {**dict.fromkeys(("train", "val", "test"), _split([0, 1])), **splits}, (), "toy"
    )


def _populated(*, groups: int, names: tuple[str, ...] = ("x", "y")) -> ImageDataset:
    split = replace(_split([0, 1]), groups=np.full(2, groups, dtype=np.int64))
    return ImageDataset("toy", "0", ("a", "b"), dict.fromkeys(SPLITS, split), (), "toy", subpopulations=names)


def test_groups_are_sub_populations_only_where_these_are_named():
    assert _populated(groups=1).subpopulations == ("x", "y")
    assert _populated(groups=-1).subpopulations == ("x", "y")
    assert _populated(groups=99, names=()).subpopulations == ()
    assert isinstance(_dataset(), LabelledImages)


def test_chance_is_the_accuracy_of_the_most_frequent_train_class():
    data = _dataset(("a", "b", "c"), train=_split([1, 1, 0, 2]), test=_split([1, 0, 0, 0, 1]))
    assert data.chance == pytest.approx(2 / 5)
    assert _dataset().chance == pytest.approx(0.5)


def test_length_is_the_number_of_rows():
    assert len(_split([0, 1, 1])) == 3


@pytest.mark.parametrize("row", [-1, 3])
@pytest.mark.parametrize("kind", [InvalidInput, IndexError])
def test_rows_outside_are_refused_for_every_source(row, kind):
    split = _split([0, 1, 1])
    assert split.read(2).size == (4, 4)
    with pytest.raises(kind, match=rf"row {row} is not in this split of 3\. Rows count from 0 to 2"):
        split.read(row)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: _split([0, 1], groups=1), "one sample id, label and group per row"),
        (lambda: _split([0, 1], dtype=np.int32), "labels must be an int64 vector, got int32"),
        (lambda: _dataset(("a",)), "has 1 class; a probe needs at least 2"),
        (lambda: _dataset(val=_split([])), "split 'val' of dataset 'toy' has no images"),
        (lambda: _dataset(test=_split([0, 2])), "labels of split 'test' span 0..2, but there are 2 classes"),
        (
            lambda: _populated(groups=2),
            r"groups of split 'train' span 2\.\.2, but must be -1 \(none\) or one of the 2",
        ),
        (lambda: _populated(groups=-2), r"groups of split 'train' span -2\.\.-2"),
        (lambda: _dataset(more=_split([0])), "needs the splits train, val, test, got train, val, test, more"),
    ],
)
def test_what_is_no_dataset_is_refused(make, message):
    with pytest.raises(InvalidInput, match=message):
        make()
