from __future__ import annotations

import pytest

from vitgeom.data.shift.cifar_classes import LABEL_NAMES, label_names


@pytest.mark.parametrize(("name", "count"), [("cifar10", 10), ("cifar100", 100)])
def test_the_names_are_alphabetical_and_as_many_as_the_labels(name, count):
    names = label_names(name)
    assert len(set(names)) == len(names) == count
    assert list(names) == sorted(names)
    assert names is LABEL_NAMES[name]


def test_some_labels_by_their_published_number():
    assert [LABEL_NAMES["cifar10"][label] for label in (0, 3, 9)] == ["airplane", "cat", "truck"]
    assert [LABEL_NAMES["cifar100"][label] for label in (0, 49, 99)] == ["apple", "mountain", "worm"]


def test_names_can_be_listed():
    assert label_names("b, a,c") == ("b", "a", "c")
