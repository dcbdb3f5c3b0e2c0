"""A bottleneck that takes seconds: a few rendered scenes, the camera head of an embedded backbone, and very few latents."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tasks.bottleneck_request import BottleneckRequest
from tasks.opened import opened_backbone, opened_images
from vitgeom.backbones import BackboneRef
from vitgeom.data import DatasetRef

DATASET, BACKBONE = DatasetRef("scenes"), BackboneRef("nano_supervised")


def bottleneck_request(folder: Path, **changes: Any) -> BottleneckRequest:
    """Return the request of a bottleneck of 2 x 3 latents."""
    return BottleneckRequest(
        **{
            "store": str(folder),
            "label": "scenes/nano_supervised",
            "dataset": DATASET.to_json(),
            "dataset_digest": opened_images(DATASET.to_json()).digest,
            "backbone": BACKBONE.to_json(),
            "weights_digest": opened_backbone(BACKBONE.to_json(), device="cpu").spec.weights_digest,
            "decoder": "scenes_camera",
            "metric": "euclidean",
            "images": {"train": tuple(range(0, 60, 10)), "val": (0, 7), "test": (3, 9)},
            "registers": 2,
            "latent": 3,
            "rank": 4,
            "budget": 60,
            "num_bootstrap": 50,
            "training": {"epochs": 2, "batch_size": 3, "patience": 2},
            **changes,
        }
    )
