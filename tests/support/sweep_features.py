"""A small feature store with something to learn in it, and requests of small sweeps on it."""

from __future__ import annotations

from typing import Any

import numpy as np

from tasks.fusion_request import EncoderSettings
from tasks.sweep_request import SweepRequest
from tests.support.feature_stores import describe, make_store
from tests.support.layered_features import layered_features
from vitgeom.store.feature_store import FeatureStore
from vitgeom.store.uri import Root

ROWS = {"train": 90, "val": 40, "test": 10}
SPACE: dict[str, Any] = {"selection": ("holistic", "last"), "orth_weight": (0.0, 0.5), "hidden_dim": (0, 8)}


def sweep_store(folder: Root | str) -> FeatureStore:
    """Write and seal three layers of features in three classes."""
    store = make_store(
        folder,
        description=describe(),
        splits=ROWS,
        num_layers=3,
        width=6,
        rows_per_range=50,
        sample_id_width=24,
    )
    values, labels = layered_features(sum(ROWS.values()), 3, 6, 3, strength=0.8)
    first = dict(zip(ROWS, np.cumsum([0, *ROWS.values()]), strict=False))
    for split, start, stop in store.missing():
        rows = slice(int(first[split]) + start, int(first[split]) + stop)
        cls, count = values[rows].numpy(), stop - start
        arrays: dict[str, Any] = {
            "cls": cls,
            "mean": cls,
            "cls_normed": cls[:, -1],
            "mean_normed": cls[:, -1],
            "label": labels[rows].numpy(),
            "group": np.full(count, -1),
            "sample_id": [f"{split}/{row}.png" for row in range(start, stop)],
        }
        store.write_range(split, start, stop, arrays, seconds=1.0)
    store.seal()
    return store


def sweep_request(store: FeatureStore, folder: object, **changes: Any) -> SweepRequest:
    """A request on that store; ``changes`` replace fields, or settings of the encoder."""
    encoder = {name: changes.pop(name) for name in ("max_epochs", "patience") if name in changes}
    fields = {
        "store": str(folder),
        "address": store.address_path,
        "manifest_digest": store.manifest().digest,
        "l2": (0.01, 0.1),
        "space": SPACE,
        "encoder": EncoderSettings(**{"max_epochs": 6, **encoder}),
        "grace_epochs": 1,
        "reduction_factor": 2,
    }
    return SweepRequest(**{**fields, **changes})
