"""What the features at an address took to compute, from their done-markers: the same figure however often a study is run again."""

from __future__ import annotations

from dataclasses import dataclass

from vitgeom.store.features import open_features
from vitgeom.store.uri import Root


@dataclass(frozen=True)
class ExtractionCost:
    """What all ranges took together.

    Attributes:
        seconds: Their wall time, on however many processes.
        rows: Images in them.
        num_bytes: Of the stored values.
        peak_bytes: Largest memory of any process that computed one; None where nobody measured it.
    """

    seconds: float
    rows: int
    num_bytes: int
    peak_bytes: int | None


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
        num_bytes=features.layout.num_bytes,
        peak_bytes=max((marker.peak_bytes for marker in markers), default=0) or None,
    )
