"""A learnt metric that takes seconds: the small store of targets with made-up content, and small models."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tasks.metric_request import MetricRequest
from tests.support.target_stores import fill, make_store
from vitgeom.store.targets import TargetStore
from vitgeom.store.uri import Root

SPLITS = {"train": 6, "val": 3, "test": 3}
TRAINING: dict[str, Any] = {"epochs": 3, "batch_size": 2, "patience": 3}


def sealed_targets(folder: Path, **options: Any) -> TargetStore:
    """Make and seal the targets."""
    store = make_store(Root(folder), **{"splits": SPLITS, **options})
    fill(store)
    store.seal()
    return store


def request_of(folder: Path, learner: str = "importance", **changes: Any) -> MetricRequest:
    """Return the request of a small model on the targets of a folder, which are made if they are not there."""
    store = sealed_targets(folder)
    return MetricRequest(
        **{
            "store": str(folder),
            "address": store.address_path,
            "manifest_digest": store.manifest().digest,
            "learner": learner,
            "rank": 2,
            "num_prefix": 1,
            "model": {"hidden": 8, "heads": 2, "blocks": 1},
            "training": TRAINING,
            **changes,
        }
    )
