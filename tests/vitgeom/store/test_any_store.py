from __future__ import annotations

import pytest

from tests.support import feature_stores, target_stores
from vitgeom.errors import StoreError
from vitgeom.store.any_store import open_store
from vitgeom.store.feature_store import FeatureStore
from vitgeom.store.targets import TargetStore
from vitgeom.store.uri import Root


def test_each_kind_is_opened_as_what_it_is(local_root: Root) -> None:
    features, targets = feature_stores.make_store(local_root), target_stores.make_store(local_root)
    assert type(open_store(local_root, features.address_path)) is FeatureStore
    assert type(open_store(local_root, targets.address_path)) is TargetStore


def test_where_nothing_is_the_way_out_is_told(local_root: Root) -> None:
    with pytest.raises(StoreError, match="there is no store at"):
        open_store(local_root, "features/digits/nano/00")
