from __future__ import annotations

import numpy as np
import pytest
import torch

from vitgeom.errors import InvalidInput
from vitgeom.probes.labels import UNKNOWN_CLASS, class_ids, class_index, label_array


@pytest.mark.parametrize(
    "y", [[7, 0, 1, 7], np.array([7, 0, 1, 7], dtype=np.uint8), torch.tensor([7, 0, 1, 7], dtype=torch.int32)]
)
def test_integers_of_any_kind_come_back_as_they_were(y):
    array = label_array(y, name="y")
    classes = class_ids(array)
    index = class_index(array, classes)
    assert classes.tolist() == [0, 1, 7]
    assert classes[index.numpy()].tolist() == [7, 0, 1, 7]


def test_strings_come_back_as_they_were():
    array = label_array(["wren", "owl", "wren", "kite"], name="y")
    classes = class_ids(array)
    assert classes[class_index(array, classes).numpy()].tolist() == ["wren", "owl", "wren", "kite"]


@pytest.mark.parametrize("stranger", ["aardvark", "newt", "zebra"])
def test_an_unseen_class_is_unknown_wherever_it_would_sort(stranger):
    classes = class_ids(label_array(["kite", "owl"], name="y"))
    index = class_index(label_array([stranger, "owl"], name="y"), classes)
    assert index.tolist() == [UNKNOWN_CLASS, 1]


def test_no_labels_have_no_index():
    assert class_index(label_array([], name="y"), np.array([0, 1])).tolist() == []


def test_one_class_is_refused():
    with pytest.raises(InvalidInput, match="y must hold at least 2 classes, got only 'owl' in 3 rows"):
        class_ids(label_array(["owl"] * 3, name="y"))


@pytest.mark.parametrize("y", [[0.5, 1.0], [True, False], [None, 1]])
def test_other_kinds_are_refused(y):
    with pytest.raises(InvalidInput, match="y_val must hold integers or strings"):
        label_array(np.asarray(y), name="y_val")


def test_a_table_of_labels_is_refused():
    with pytest.raises(InvalidInput, match=r"shape \[n\], got shape \[2, 1\]"):
        label_array(torch.zeros(2, 1, dtype=torch.int64), name="y")


def test_mixed_kinds_are_refused():
    with pytest.raises(InvalidInput, match="do not match the classes of kind int64"):
        class_index(label_array(["0", "1"], name="y"), np.array([0, 1]))


def test_a_column_of_a_table_that_holds_strings_is_text():
    given = np.array(["wren", "owl", "wren"], dtype=object)
    array = label_array(given, name="y")
    assert array.dtype.kind == "U"
    assert array.tolist() == given.tolist()


@pytest.mark.parametrize("y", [["owl", 1], ["owl", None], [1, 2]])
def test_a_column_of_other_objects_is_refused(y):
    with pytest.raises(InvalidInput, match="y must hold integers or strings, got object"):
        label_array(np.array(y, dtype=object), name="y")


def test_integers_that_would_wrap_round_are_refused():
    with pytest.raises(InvalidInput, match="y must hold integers below 2\\^63, got 9223372036854775808"):
        label_array(np.array([0, 2**63], dtype=np.uint64), name="y")
