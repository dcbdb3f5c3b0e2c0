from __future__ import annotations

from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from PIL import Image

from vitgeom.data.dataset import ImageDataset, LabelledImages, Split
from vitgeom.data.shift.shifted_test import ShiftedTest
from vitgeom.errors import InvalidInput


def _split(labels: list[int], groups: list[int] | None = None) -> Split:
    return Split(
        sample_ids=[f"s{row}" for row in range(len(labels))],
        labels=np.array(labels, dtype=np.int64),
        groups=np.array([-1] * len(labels) if groups is None else groups, dtype=np.int64),
        read=lambda row: Image.new("RGB", (4, 4)),
    )


def _shifted(test: Split, **more: object) -> ShiftedTest:
    return ShiftedTest("toy", "0", ("a", "b", "c"), test, "clean", "fog", 3, (), "toy", **more)


def test_there_is_one_split_and_no_way_to_add_another():
    data = _shifted(_split([2, 0, 2]))
    assert list(data.splits) == ["test"]
    assert data.splits["test"] is data.test
    with pytest.raises(TypeError, match="does not support item assignment"):
        data.splits["train"] = data.test
    with pytest.raises((FrozenInstanceError, AttributeError)):
        data.splits = {}
    with pytest.raises(TypeError, match="unexpected keyword argument 'splits'"):
        _shifted(_split([0]), splits={"train": data.test})


def test_it_is_something_to_extract_and_nothing_to_fit_on():
    data = _shifted(_split([0]))
    assert isinstance(data, LabelledImages)
    assert not isinstance(data, ImageDataset)


def test_the_labels_that_occur_are_listed():
    assert _shifted(_split([2, 0, 2])).present == (0, 2)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: _shifted(_split([])), "split 'test' of dataset 'toy' has no images"),
        (lambda: _shifted(_split([3])), r"labels of split 'test' span 3\.\.3, but there are 3 classes"),
        (
            lambda: _shifted(_split([0, 1], [0, 2]), subpopulations=("x", "y")),
            r"groups of split 'test' span 0\.\.2",
        ),
    ],
)
def test_what_is_no_test_set_is_refused(make, message):
    with pytest.raises(InvalidInput, match=message):
        make()
