"""What the features at an address took to compute, from their done-markers: the same figure however often a study is run again."""

from __future__ import annotations

from dataclasses import dataclass

from vitgeom.store.features import open_features
from vitgeom.store.uri import Root


@dataclass(frozen=True)
class ExtractionCost:
    """Wall time of all ranges together, on however many processes, and the images in them."""

    seconds: float
    rows: int


def extraction_cost(store: str, address: str) -> ExtractionCost:
    """Sum up the done-markers of a feature store.

    Args:
        store: URI of the store's root.
        address: Path of the features below it.

    Raises:
        StoreError: There are no such features, or they cannot be read.
    """
    features = open_features(Root(store), address)
    markers = [marker for split in features.splits for marker in features.markers.valid(split).values()]
    return ExtractionCost(
        seconds=sum(marker.seconds for marker in markers),
        rows=sum(marker.stop - marker.start for marker in markers),
    )
