from __future__ import annotations

import math

import numpy as np
import pytest

from vitgeom.errors import InvalidInput, UnknownName
from vitgeom.fusion.selection import select_layers


@pytest.mark.parametrize("num_layers", [1, 2, 3, 11, 12])
def test_the_definitions_counted_from_one(num_layers):
    def of(selection):
        return [layer + 1 for layer in select_layers(selection, num_layers=num_layers)]

    assert of("holistic") == list(range(1, num_layers + 1))
    assert of("last_half") == (list(range(math.ceil(num_layers / 2) + 1, num_layers + 1)) or [num_layers])
    assert of("last") == [num_layers]
    assert of("strided(3)") == sorted(range(num_layers, 0, -3))
    assert of("strided(1)") == of("holistic")


def test_a_list_is_taken_in_the_order_of_depth():
    assert select_layers([7, 2, 4], num_layers=12) == (2, 4, 7)
    assert select_layers(np.array([7, 2, 4]), num_layers=12) == (2, 4, 7)


@pytest.mark.parametrize(
    ("selection", "error", "words"),
    [
        ("holistc", UnknownName, "unknown selection 'holistc'. Did you mean 'holistic'"),
        ("strided", UnknownName, r"Did you mean 'strided\(k\)'"),
        ("strided(0)", InvalidInput, "at least 1 layer"),
        ([], InvalidInput, "at least 1 layer, got an empty list"),
        ([0, 12], InvalidInput, r"layers 0..11, got \[12\]"),
        ([-1], InvalidInput, r"got \[-1\]"),
        ([3, 3], InvalidInput, "each layer once"),
        ([1.0], InvalidInput, r"a list of whole numbers, the layers counted from 0, got \[1.0\]"),
        ([True, False], InvalidInput, r"whole numbers.* got \[True, False\]"),
        (["last"], InvalidInput, r"whole numbers.* got \['last'\]"),
        (3, InvalidInput, "whole numbers.* got 3"),
        (None, InvalidInput, "whole numbers.* got None"),
    ],
)
def test_what_selects_nothing_is_refused(selection, error, words):
    with pytest.raises(error, match=words):
        select_layers(selection, num_layers=12)
