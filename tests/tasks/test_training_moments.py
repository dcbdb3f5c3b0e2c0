from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from tasks.layer_source import layer_source
from tasks.training_moments import training_moments
from tests.support.small_shift import scenes, sealed
from vitgeom.errors import InvalidInput
from vitgeom.store.features import FeatureStore, open_features


def test_moments_are_of_the_training_split_alone_and_read_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    receipt = sealed(tmp_path, scenes())
    place = {"manifest_digest": receipt.digest, "token": "cls", "last_layer": "normed"}
    found = training_moments(str(tmp_path), receipt.detail["address"], **place)
    source = layer_source(
        open_features(tmp_path, receipt.detail["address"]), "train", token="cls", last_layer="normed"
    )
    for layer in range(source.num_layers):
        x = source(layer).double()
        torch.testing.assert_close(found.means[layer], x.mean(dim=0), rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(found.deviations[layer], x.numpy().std(axis=0), rtol=1e-6, atol=1e-9)
    monkeypatch.setattr(FeatureStore, "read", lambda *args, **which: pytest.fail("read again"))
    assert training_moments(str(tmp_path), receipt.detail["address"], **place) is found


def test_other_features_than_those_pinned_are_refused(tmp_path: Path) -> None:
    receipt = sealed(tmp_path, scenes())
    with pytest.raises(InvalidInput, match="manifest_digest='000000000000' was asked for"):
        training_moments(
            str(tmp_path),
            receipt.detail["address"],
            manifest_digest="0" * 64,
            token="cls",
            last_layer="normed",
        )
