"""Layers read one at a time are the stored layers."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from tasks.engine import SerialEngine
from tasks.extract_dataset import extract
from tasks.layer_source import layer_source
from tests.support.small_extraction import BACKBONE, noise, settings
from vitgeom.errors import InvalidInput
from vitgeom.probes import RowSource
from vitgeom.store.features import FeatureStore, open_features


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> FeatureStore:
    folder = tmp_path_factory.mktemp("features")
    chosen = settings(tokens=("mean",), storage="float16")
    sealed = extract(noise(), BACKBONE, store=str(folder), settings=chosen, engine=SerialEngine())
    return open_features(folder, sealed.detail["address"])


def test_every_layer_is_the_stored_one_in_float32(store: FeatureStore) -> None:
    layers = layer_source(store, "train", token="mean", last_layer="raw")
    assert layers.num_layers == 12
    whole = store.read("train", "mean")
    for number in range(12):
        assert layers(number).dtype == torch.float32
        np.testing.assert_array_equal(layers(number).numpy(), whole[:, number].astype(np.float32))


def test_the_last_layer_may_be_the_normed_one(store: FeatureStore) -> None:
    normed = layer_source(store, "val", token="mean", last_layer="normed")
    raw = layer_source(store, "val", token="mean", last_layer="raw")
    np.testing.assert_array_equal(normed(11).numpy(), store.read("val", "mean_normed").astype(np.float32))
    assert not torch.equal(normed(11), raw(11))
    assert torch.equal(normed(10), raw(10))


def test_a_token_that_is_not_stored_is_refused(store: FeatureStore) -> None:
    with pytest.raises(InvalidInput, match="array 'cls' is not in this store"):
        layer_source(store, "train", token="cls", last_layer="raw")(0)


def test_some_rows_of_a_layer_are_those_of_the_whole(store: FeatureStore) -> None:
    layers = layer_source(store, "train", token="mean", last_layer="normed")
    assert isinstance(layers, RowSource)
    assert layers.num_rows == store.splits["train"]
    for number in (3, 11):
        for start, stop in ((0, 1), (5, layers.num_rows), (layers.num_rows - 1, layers.num_rows)):
            assert torch.equal(layers.rows(number, start, stop), layers(number)[start:stop])
