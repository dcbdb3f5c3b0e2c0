from __future__ import annotations

import pytest

from vitgeom.data.shift.class_mapping import map_classes
from vitgeom.errors import InvalidInput

CLEAN = ("ant", "bee", "cat", "dog")


def mapped(*names: str, skip: bool = False):
    return map_classes(names, clean=CLEAN, what="the toy", skip_unknown=skip)


def test_a_subset_in_any_order_gets_the_labels_of_the_clean_dataset():
    assert mapped("dog", "ant").labels.tolist() == [3, 0]
    assert mapped(*CLEAN).labels.tolist() == [0, 1, 2, 3]
    assert mapped("dog").unknown == ()


def test_unknown_classes_are_refused_or_listed():
    with pytest.raises(
        InvalidInput,
        match=r"the toy has 2 classes that the clean dataset does not have: bees, elk. Did you mean 'bee'.*skip_unknown_classes=True",
    ):
        mapped("cat", "bees", "elk")
    skipped = mapped("cat", "bees", "elk", skip=True)
    assert skipped.labels.tolist() == [2, -1, -1]
    assert skipped.unknown == ("bees", "elk")


def test_no_shared_class_and_a_class_named_twice_are_refused():
    with pytest.raises(InvalidInput, match="the toy shares no class with the clean dataset: it has elk, fox"):
        mapped("elk", "fox", skip=True)
    with pytest.raises(InvalidInput, match="the toy names a class twice: cat"):
        mapped("cat", "dog", "cat")
