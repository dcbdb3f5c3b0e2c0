"""A fused cell with sub-populations, and features of shifted test sets of it: rendered scenes of 16 pixels under random weights."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tasks import fit_fusion
from tasks.engine import SerialEngine
from tasks.extract_dataset import extract
from tasks.fusion_request import ConcatenationSettings, FusionRequest, GateSettings
from tasks.receipt import Receipt
from tasks.request import ExtractSettings
from tasks.shift_request import ShiftRequest
from tests.support.small_extraction import BACKBONE
from tests.support.small_fusion import QUICK
from vitgeom.backbones import BackboneRef
from vitgeom.data import DatasetRef, corrupted_ref

NUM_TEST = 72
METHODS = ("last_layer", "best_layer", "mixture_of_experts", "vfusion")


def scenes(**options: Any) -> DatasetRef:
    """Return the clean dataset."""
    return DatasetRef.from_options(
        "spurious_scenes", **{"size": 16, "train": 60, "val": 20, "test": NUM_TEST, **options}
    )


CONTRAST = corrupted_ref(scenes(), corruption="contrast", severity=4)


@dataclass(frozen=True)
class FusedCell:
    """A store with the features of the scenes and the classifiers on them."""

    store: Path
    fused: Receipt


def sealed(store: Path, dataset: DatasetRef, *, backbone: BackboneRef = BACKBONE, **settings: Any) -> Receipt:
    """Extract the features of a dataset, or of a test set under shift."""
    chosen = ExtractSettings(**{"rows_per_range": 16, "batch_size": 8, **settings})
    return extract(dataset, backbone, store=str(store), settings=chosen, engine=SerialEngine())


def fused_cell(store: Path, *, methods: tuple[str, ...] = METHODS) -> FusedCell:
    """Fit a few quick methods on the clean scenes."""
    features = sealed(store, scenes())
    request = FusionRequest(
        **QUICK,
        store=str(store),
        address=features.detail["address"],
        manifest_digest=features.digest,
        methods=methods,
        gate=GateSettings(components=4, hidden_dim=4, max_epochs=2, patience=1),
        concatenation=ConcatenationSettings(l2=(0.1, 1.0)),
    )
    return FusedCell(store, fit_fusion.run(request))


def shift_request(cell: FusedCell, features: Receipt, dataset: DatasetRef, **changes: Any) -> ShiftRequest:
    """Return the request for the classifiers of a cell on sealed features."""
    fields = {
        "store": str(cell.store),
        "fused": cell.fused.uri,
        "fused_digest": cell.fused.digest,
        "address": features.detail["address"],
        "manifest_digest": features.digest,
        "dataset": dataset.to_json(),
        "num_bootstrap": 50,
    }
    return ShiftRequest(**{**fields, **changes})
