"""What learnt metrics and exact targets take per image; no result file holds a time, their records in the store do."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from typing import Any

from tasks.stored_results import DONE
from tasks.target_request import DecoderRef
from vitgeom.store.targets import TargetStore, open_targets
from vitgeom.store.uri import Root

EXACT = "exact"


def metric_times(store: str, content: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """Return seconds per image by label of the decoder, then by model; ``EXACT`` is that of the targets, backbone included.

    Args:
        store: URI of the store's root.
        content: Of a file of learnt metrics.

    Raises:
        StoreError: Targets or models are no longer in the store.
    """
    root = Root(store)
    return {
        DecoderRef(**pair["decoder"]).label: {
            EXACT: _exact(open_targets(root, pair["origin"]["address"])),
            **{
                name: statistics.median(
                    root.join(path).read_json(DONE)["detail"]["seconds_per_image"] for path in paths
                )
                for name, paths in pair["origin"]["models"].items()
            },
        }
        for pair in content["pairs"]
    }


def _exact(targets: TargetStore) -> float:
    markers = [marker for split in targets.splits for marker in targets.markers.valid(split).values()]
    return sum(marker.seconds for marker in markers) / sum(targets.splits.values())
