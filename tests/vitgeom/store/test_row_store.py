"""What is not about features or targets; the rest is tested by the contract of stores, which both kinds meet."""

from __future__ import annotations

import pytest

from tests.support.target_stores import fill, make_store, range_arrays
from vitgeom.errors import IncompleteData, StoreError
from vitgeom.store.row_store import RowStore
from vitgeom.store.uri import Root


def test_writing_the_same_again_changes_nothing_and_other_values_are_refused(local_root: Root) -> None:
    store: RowStore = make_store(local_root)
    fill(store)
    arrays = range_arrays(store.layout, "train", 0, 2)
    first = store.marker("train", 0)
    assert store.write_range("train", 0, 2, arrays, seconds=9.0) == first["digest"]
    assert store.marker("train", 0) == first
    arrays["norm_squared"] = arrays["norm_squared"] + 1
    with pytest.raises(StoreError, match="committed before with other values"):
        store.write_range("train", 0, 2, arrays, seconds=0.0)


def test_sealing_needs_every_row(local_root: Root) -> None:
    store = make_store(local_root)
    with pytest.raises(IncompleteData, match="8 rows have no valid done-marker"):
        store.seal()
    assert not store.is_sealed
