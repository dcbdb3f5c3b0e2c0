from __future__ import annotations

import pytest

from vitgeom.errors import IncompleteData
from vitgeom.store.completeness import incomplete


def test_rows_are_counted_and_the_first_ranges_named() -> None:
    missing = [("train", start, start + 4) for start in range(0, 40, 4)]
    with pytest.raises(
        IncompleteData,
        match=r"s3://b/x is incomplete: 40 rows .*\(train 0:4, .*, train 20:24 and 4 more ranges\)\. Run the extraction again",
    ) as caught:
        raise incomplete("s3://b/x", missing)
    assert caught.value.missing == tuple(missing)


def test_few_ranges_are_all_named() -> None:
    assert "(val 0:3)" in str(incomplete("/x", [("val", 0, 3)]))
