"""Training examples from a sealed store of targets: kept in memory where they fit, else read batch by batch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
import torch
from torch import Tensor

from vitgeom.store.targets import TargetStore

LEAST = {"features": "features", "num_found": "num_found"}
DIRECTIONS = {name: name for name in ("right_vectors", "singular_values", "norm_squared")}
"""What batches call arrays, and what the store calls them."""


class TargetExamples:
    """One split of a store of targets as the training loop reads it.

    Attributes:
        sample_ids: Names of the images, by row.
    """

    def __init__(self, store: TargetStore, split: str, *, names: Mapping[str, str], keep_bytes: int) -> None:
        """Read the arrays if they may be kept.

        Args:
            store: Sealed.
            split: Which split.
            names: What batches hold: their name -> that of the store.
            keep_bytes: Arrays of the split are kept in memory if they take no more than this.

        Raises:
            IncompleteData: The split is not complete.
            CorruptData: An array is damaged.
        """
        self._store, self._split, self._names = store, split, dict(names)
        self.sample_ids = store.sample_ids(split)
        self._kept = self._read(None) if split_bytes(store, split, names.values()) <= keep_bytes else None

    @property
    def num_images(self) -> int:
        """Rows of the split."""
        return self._store.splits[self._split]

    def batch(self, rows: Tensor) -> dict[str, Tensor]:
        """Return the arrays of some images, floats in float32.

        Args:
            rows: Numbers of the images, in the order wanted.
        """
        if self._kept is None:
            return self._read(rows.numpy())
        return {name: array[rows] for name, array in self._kept.items()}

    def _read(self, rows: np.ndarray | None) -> dict[str, Tensor]:
        return {name: self._array(stored, rows) for name, stored in self._names.items()}

    def _array(self, name: str, rows: np.ndarray | None) -> Tensor:
        array = torch.from_numpy(self._store.read(self._split, name, rows=rows))
        return array if name == "num_found" else array.float()


def split_bytes(store: TargetStore, split: str, names: Iterable[str]) -> int:
    """Return what some arrays of a split take in memory.

    Args:
        store: Of targets.
        split: Which split.
        names: Arrays.
    """
    layout, rows = store.layout, store.splits[split]
    specs = {spec.name: spec for spec in layout.specs}
    # In memory as float32, whatever the storage.
    return sum(4 * int(np.prod(layout.shape(specs[name], rows))) for name in names)
