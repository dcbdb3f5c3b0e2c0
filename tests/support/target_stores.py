"""Small stores of targets with known content."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from vitgeom.store.address import TargetAddress, describe_targets
from vitgeom.store.figures import write_figures
from vitgeom.store.target_layout import TargetLayout
from vitgeom.store.targets import TargetStore, create_targets
from vitgeom.store.uri import Root

SPLITS = {"train": 5, "test": 3}
SHAPE: dict[str, Any] = {"num_tokens": 6, "width": 4, "rank": 2, "rows_per_range": 2, "sample_id_width": 24}


def describe(**changes: Any) -> dict[str, Any]:
    """The description of the small store."""
    settings: dict[str, Any] = {
        "dataset_digest": "d" * 64,
        "weights_digest": "e" * 64,
        "preprocessing": {"resize": 8},
        "decoder": {"name": "cls", "layer": 3, "weights": None},
        "recipe": {"recipe": "auto", "rank": 2, "budget": 200, "seed": 0},
        "storage_dtype": "float32",
    }
    return describe_targets(**{**settings, **changes})


def address_of(description: Mapping[str, Any]) -> TargetAddress:
    """The address of a description."""
    return TargetAddress.of(description, dataset="digits", backbone="nano", decoder="cls-layer3")


def make_store(root: Root | str, *, description: dict[str, Any] | None = None, **changes: Any) -> TargetStore:
    """Create the small store; ``changes`` go to ``create_targets``."""
    description = describe() if description is None else description
    settings: dict[str, Any] = {"splits": SPLITS, "storage_dtype": "float32", **SHAPE, **changes}
    return create_targets(root, address_of(description), description=description, **settings)


def range_arrays(layout: TargetLayout, split: str, start: int, stop: int) -> dict[str, Any]:
    """The content of a range; a row's values depend on its split and number only."""
    rows = [_row(layout, split, row) for row in range(start, stop)]
    arrays: dict[str, Any] = {name: np.stack([row[name] for row in rows]) for name in rows[0]}
    return {**arrays, "sample_id": [f"{split}/{row}" for row in range(start, stop)]}


def fill(store: TargetStore) -> None:
    """Write what is missing."""
    for split, start, stop in store.missing():
        write_figures(store, split, start, [{"sample": f"{split}/{row}"} for row in range(start, stop)])
        store.write_range(split, start, stop, range_arrays(store.layout, split, start, stop), seconds=1.0)


def _row(layout: TargetLayout, split: str, row: int) -> dict[str, Any]:
    generator = np.random.default_rng([len(split), row])
    tokens, rank = layout.num_tokens, layout.rank
    measured = {
        "features": generator.normal(size=(tokens, layout.width)).astype(np.float32),
        "right_vectors": generator.normal(size=(tokens, layout.width, rank)).astype(np.float32),
        "singular_values": generator.random(rank),
        **{
            name: generator.random(tokens)
            for name in ("token_energy", "importance", "block_norms", "block_norms_stderr")
        },
        "norm_squared": np.float64(generator.random()),
        "norm_squared_stderr": np.float64(0.0),
    }
    return {**measured, "num_found": np.int64(rank), "label": np.int64(row % 3)}
