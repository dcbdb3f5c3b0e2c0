"""In which regimes the images of a set of targets are."""

from __future__ import annotations

from collections import Counter

from tasks.receipt import Receipt
from vitgeom.store.figures import read_figures
from vitgeom.store.targets import open_targets
from vitgeom.store.uri import Root


def regimes_of(store: str, sealed: Receipt, *, split: str) -> dict[str, int]:
    """Return how many images of a split are in which regime.

    Args:
        store: URI of the store's root.
        sealed: Seal of the targets.
        split: Which split.

    Raises:
        CorruptData: Figures are missing or damaged.
    """
    targets = open_targets(Root(store), sealed.detail["address"])
    return dict(
        Counter(
            each["regime"]["name"]
            for start, _ in targets.ranges(split)
            for each in read_figures(targets, split, start)
        )
    )
