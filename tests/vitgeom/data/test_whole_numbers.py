from __future__ import annotations

import pytest

from vitgeom.data.whole_numbers import require_whole
from vitgeom.errors import InvalidInput


def test_a_good_number_passes_through():
    assert require_whole("n", 5, at_least=5) == 5
    assert require_whole("n", 5, at_least=5, at_most=5) == 5


def test_a_number_that_is_too_large_is_refused():
    with pytest.raises(InvalidInput, match="option 'n' must be at most 1,000, got 1,001"):
        require_whole("n", 1001, at_least=5, at_most=1000)


@pytest.mark.parametrize("value", [4, 5.0, "5", None, True])
def test_anything_else_is_refused(value):
    with pytest.raises(InvalidInput, match=f"option 'n' must be a whole number >= 5, got {value!r}"):
        require_whole("n", value, at_least=5)
