from __future__ import annotations

import numpy as np
import pytest

from vitgeom.errors import InvalidInput
from vitgeom.whole_numbers import whole_number


@pytest.mark.parametrize("value", [5, np.int64(5), np.uint8(5)])
def test_a_good_number_comes_back_as_a_plain_integer(value):
    assert type(whole_number("n", value, at_least=5, at_most=5)) is int


@pytest.mark.parametrize("value", [4, 5.0, "5", None, True, np.bool_(True), np.float32(6)])
def test_anything_else_is_refused(value):
    with pytest.raises(InvalidInput) as refused:
        whole_number("n", value, at_least=5, way_out="8 is usual")
    assert str(refused.value) == f"n must be a whole number >= 5, got {value!r}; 8 is usual."


def test_a_number_that_is_too_large_is_refused():
    with pytest.raises(InvalidInput, match=r"n must be at most 1,000, got 1,001\. Give a smaller number\.$"):
        whole_number("n", 1001, at_least=5, at_most=1000)
