"""Small feature stores with known content, and a view of everything that a place holds."""

from __future__ import annotations

import json
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from vitgeom.store.address import FeatureAddress, describe_features
from vitgeom.store.feature_store import FeatureStore
from vitgeom.store.features import create_features
from vitgeom.store.layout import FeatureLayout
from vitgeom.store.remote_objects import file_system
from vitgeom.store.uri import Root

SPLITS = {"train": 10, "val": 3}
SHAPE: dict[str, Any] = {"num_layers": 3, "width": 5, "rows_per_range": 4, "sample_id_width": 24}
# The first and the last of the three layers with all of their tokens, 6 in an image.
WITH_TOKENS: dict[str, Any] = {"token_layers": (0, 2), "num_tokens": 6}


def describe(**changes: Any) -> dict[str, Any]:
    """The description of the small store."""
    settings: dict[str, Any] = {
        "dataset_digest": "d" * 64,
        "weights_digest": "e" * 64,
        "preprocessing": {"resize": 8, "mean": [0.5, 0.5, 0.5]},
        "precision": "float32",
        "storage_dtype": "float32",
        "tokens": ("cls", "mean"),
    }
    return describe_features(**{**settings, **changes})


def address_of(description: Mapping[str, Any]) -> FeatureAddress:
    """The address of a description."""
    return FeatureAddress.of(description, dataset="digits", backbone="nano")


def make_store(
    root: Root | str, *, description: dict[str, Any] | None = None, **changes: Any
) -> FeatureStore:
    """Create the small store; ``changes`` go to ``create_features``."""
    description = (
        describe(
            storage_dtype=changes.get("storage_dtype", "float32"),
            token_layers=changes.get("token_layers", ()),
        )
        if description is None
        else description
    )
    settings: dict[str, Any] = {"splits": SPLITS, "storage_dtype": "float32", **SHAPE, **changes}
    return create_features(root, address_of(description), description=description, **settings)


def range_arrays(layout: FeatureLayout, split: str, start: int, stop: int) -> dict[str, Any]:
    """The content of a range; a row's values depend on its split and number only."""
    rows = [_row(layout, split, row) for row in range(start, stop)]
    arrays: dict[str, Any] = {
        name: np.stack([row[name] for row in rows]) for name in rows[0] if name != "sample_id"
    }
    return {**arrays, "sample_id": [row["sample_id"] for row in rows]}


def fill(store: FeatureStore, *, seconds: float = 1.0) -> None:
    """Write what is missing."""
    for split, start, stop in store.missing():
        store.write_range(split, start, stop, range_arrays(store.layout, split, start, stop), seconds=seconds)


def sealed_store(root: Root | str, **changes: Any) -> FeatureStore:
    """A complete and sealed small store."""
    store = make_store(root, **changes)
    fill(store)
    store.seal()
    return store


def snapshot(root: Root) -> dict[str, bytes]:
    """Every object below a place by its key; of done-markers everything but the time spent."""
    with ThreadPoolExecutor(8) as pool:
        found = keys(root)
        return {
            key: _timeless(key, data)
            for key, data in zip(found, pool.map(root.read_bytes, found), strict=True)
        }


def keys(root: Root) -> list[str]:
    """Every key below a place, in one listing."""
    if root.is_local:
        return sorted(
            path.relative_to(root.uri).as_posix() for path in Path(root.uri).rglob("*") if path.is_file()
        )
    scheme, _, base = root.uri.partition("://")
    return sorted(key.lstrip("/").removeprefix(f"{base}/") for key in file_system(scheme).find(base))


MEASURED = ("seconds", "peak_bytes", "checksum")


def _timeless(key: str, data: bytes) -> bytes:
    if "/done/" not in f"/{key}":
        return data
    marker = json.loads(data)
    return json.dumps({name: marker[name] for name in marker if name not in MEASURED}).encode()


def _row(layout: FeatureLayout, split: str, row: int) -> dict[str, Any]:
    generator = np.random.default_rng([row, *split.encode()])
    features = {
        spec.name: generator.standard_normal(layout.shape(spec, 1)[1:]).astype(np.float32)
        for spec in layout.specs
        if spec.is_float
    }
    return {
        **features,
        "label": np.int64(row % 3),
        "group": np.int64(-1),
        "sample_id": f"{split}/bild ä {row}.png",
    }
