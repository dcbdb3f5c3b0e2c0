"""What an extraction took is read from the store, long after the process that did it is gone."""

from __future__ import annotations

from pathlib import Path

import pytest

from tasks.engine import SerialEngine
from tasks.extract_dataset import extract
from tasks.extraction_cost import extraction_cost
from tasks.footprint import peak_bytes
from tests.support.feature_stores import make_store, sealed_store
from tests.support.small_extraction import BACKBONE, noise, settings
from vitgeom.errors import StoreError
from vitgeom.store.features import open_features


def test_time_images_bytes_and_memory_are_those_of_the_extraction(tmp_path: Path) -> None:
    sealed = extract(noise(), BACKBONE, store=str(tmp_path), settings=settings(), engine=SerialEngine())
    address = sealed.detail["address"]

    cost = extraction_cost(str(tmp_path), address)

    assert cost.rows == 60
    assert cost.seconds > 0
    assert cost.peak_bytes is not None
    assert 50e6 < cost.peak_bytes <= peak_bytes() + 2**20
    features = open_features(tmp_path, address)
    values = [features.read(split, spec.name) for split in features.splits for spec in features.layout.specs]
    assert cost.num_bytes == sum(array.nbytes for array in values)
    assert extraction_cost(str(tmp_path), address) == cost


def test_memory_that_nobody_measured_is_unknown(tmp_path: Path) -> None:
    store = sealed_store(str(tmp_path))
    assert extraction_cost(str(tmp_path), store.address_path).peak_bytes is None


def test_an_extraction_that_has_not_begun_costs_nothing_yet(tmp_path: Path) -> None:
    store = make_store(str(tmp_path))
    cost = extraction_cost(str(tmp_path), store.address_path)
    assert (cost.seconds, cost.rows, cost.peak_bytes) == (0, 0, None)


def test_features_that_are_not_there_are_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreError):
        extraction_cost(str(tmp_path), "features/a/b/c")
