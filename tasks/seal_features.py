"""Task: write the manifest of a complete feature store; its digest is what later stages and trackers pin."""

from __future__ import annotations

import time

from tasks.footprint import peak_bytes
from tasks.plan_extraction import ExtractionPlan
from tasks.receipt import Receipt
from vitgeom.store.features import open_features
from vitgeom.store.manifest import MANIFEST
from vitgeom.store.uri import Root


def seal(plan: ExtractionPlan) -> Receipt:
    """Seal the features of a plan; sealing again changes nothing.

    Args:
        plan: Whose work is done.

    Returns:
        The manifest's digest and rows; ``detail`` counts what the done-markers noted.

    Raises:
        IncompleteData: Ranges are missing; they are listed.
        CorruptData: The store was sealed before with other content.
    """
    began = time.perf_counter()
    store = open_features(Root(plan.store), plan.address)
    cached = store.root.exists(MANIFEST)
    manifest = store.seal()
    markers = [marker for split in store.splits for marker in store.markers.valid(split).values()]
    return Receipt(
        task="seal_features",
        key=plan.label,
        uri=store.root.uri,
        digest=manifest.digest,
        seconds=time.perf_counter() - began,
        peak_bytes=peak_bytes(),
        cached=cached,
        rows=manifest.num_rows,
        detail={
            "address": plan.address,
            "splits": {name: split["n"] for name, split in manifest.splits.items()},
            "storage": plan.storage,
            "ranges": len(markers),
            "recomputed": sum(int(marker.notes.get("recomputed", 0)) for marker in markers),
            "compute_seconds": sum(marker.seconds for marker in markers),
            "quarantined": len(plan.quarantine),
        },
    )
