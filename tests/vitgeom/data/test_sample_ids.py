from __future__ import annotations

import sys

import pytest

from vitgeom.data.sample_ids import NumberedIds


def test_it_equals_the_list_it_stands_for():
    ids = NumberedIds("noise", 12)
    expected = [f"noise-{row:06d}" for row in range(12)]
    assert list(ids) == expected
    assert ids[-1] == expected[-1]
    assert ids[2:9:3] == expected[2:9:3]
    assert ids[::-1] == expected[::-1]
    assert "noise-000003" in ids
    assert ids.index("noise-000003") == 3


def test_a_billion_ids_cost_nothing():
    ids = NumberedIds("x", 10**9)
    assert sys.getsizeof(ids) < 200
    assert ids[10**9 - 1] == "x-999999999"


def test_none_at_all_and_too_far():
    assert list(NumberedIds("x", 0)) == []
    with pytest.raises(IndexError, match="row 3 of 3 numbered ids 'x'"):
        NumberedIds("x", 3)[3]
    with pytest.raises(IndexError, match="row -4 of 3"):
        NumberedIds("x", 3)[-4]
