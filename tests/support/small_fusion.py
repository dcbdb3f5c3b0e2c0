"""A comparison of fused classifiers that takes seconds: few methods, few epochs, noise images."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tasks.engine import SerialEngine
from tasks.extract_dataset import extract
from tasks.fusion_request import (
    ConcatenationSettings,
    EncoderSettings,
    FusionRequest,
    GateSettings,
    HorizontalRequest,
)
from tasks.receipt import Receipt
from tests.support.small_extraction import BACKBONE, noise, settings
from vitgeom.backbones import BackboneRef

OTHER = BackboneRef.from_options("nano_selfsup", pretrained=False, image_size=16)
QUICK: dict[str, Any] = {
    "l2": (0.01, 0.1),
    "tol": 1e-4,
    "num_folds": 2,
    "seeds": (0, 1),
    "encoder": EncoderSettings(hidden_dim=8, max_epochs=2, patience=1, components=16, latent_dim=4),
    "num_bootstrap": 50,
}
METHODS = ("last_layer", "best_layer", "mixture_of_experts", "last4_concat", "vfusion_no_orth", "vfusion")


def extracted(folder: Path, backbone: BackboneRef = BACKBONE, *, n: int = 120) -> Receipt:
    """Extract noise images into a store and return the receipt."""
    return extract(
        noise(n),
        backbone,
        store=str(folder),
        settings=settings(rows_per_range=32, batch_size=16),
        engine=SerialEngine(),
    )


def fusion_request(folder: Path, sealed: Receipt, **changes: Any) -> FusionRequest:
    """Return a quick request for the features of a receipt."""
    fields = {
        **QUICK,
        "store": str(folder),
        "address": sealed.detail["address"],
        "manifest_digest": sealed.digest,
        "methods": METHODS,
        "gate": GateSettings(components=4, hidden_dim=4, max_epochs=2, patience=1),
        "concatenation": ConcatenationSettings(l2=(0.1, 1.0)),
    }
    return FusionRequest(**{**fields, **changes})


def horizontal_request(folder: Path, *sealed: Receipt, **changes: Any) -> HorizontalRequest:
    """Return a quick request for the features of several receipts of one dataset."""
    fields = {
        **QUICK,
        "store": str(folder),
        "addresses": tuple(one.detail["address"] for one in sealed),
        "manifest_digests": tuple(one.digest for one in sealed),
        "backbones": tuple(f"backbone{number}" for number, _ in enumerate(sealed)),
    }
    return HorizontalRequest(**{**fields, **changes})
