"""A comparison of fused classifiers that takes a second: a made-up feature store, few methods, few epochs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tasks.fusion_request import (
    ConcatenationSettings,
    EncoderSettings,
    FusionRequest,
    GateSettings,
    HorizontalRequest,
)
from tests.support.feature_stores import address_of, describe, make_store, range_arrays
from vitgeom.store.layout import FeatureLayout

SPLITS = {"train": 60, "val": 20, "test": 24}
NUM_LAYERS = 3
QUICK: dict[str, Any] = {
    "l2": (0.01, 0.1),
    "tol": 1e-4,
    "num_folds": 2,
    "seeds": (0, 1),
    "encoder": EncoderSettings(hidden_dim=8, max_epochs=2, patience=1, components=8, latent_dim=2),
    "num_bootstrap": 50,
}
METHODS = ("last_layer", "best_layer", "mixture_of_experts", "last4_concat", "vfusion_no_orth", "vfusion")


@dataclass(frozen=True)
class Sealed:
    """A store with features of three classes that its layers tell apart, some better than others."""

    store: Path
    address: str
    digest: str


def sealed_features(folder: Path, *, weights: str = "e") -> Sealed:
    """Write the features of one backbone; ``weights`` names it."""
    description = describe(weights_digest=weights * 64)
    features = make_store(
        str(folder), description=description, splits=SPLITS, num_layers=NUM_LAYERS, width=5, rows_per_range=32
    )
    for split, start, stop in features.missing():
        features.write_range(split, start, stop, _planted(features.layout, split, start, stop), seconds=1.0)
    manifest = features.seal()
    return Sealed(folder, address_of(description).path, manifest.digest)


def _planted(layout: FeatureLayout, split: str, start: int, stop: int) -> dict[str, Any]:
    arrays = range_arrays(layout, split, start, stop)
    hint = np.eye(3, 5, dtype=np.float32)[arrays["label"]]
    strength = np.array([1.0, 2.0, 1.5], dtype=np.float32)[None, :, None]
    return {
        **arrays,
        "cls": arrays["cls"] + strength * hint[:, None],
        "cls_normed": arrays["cls_normed"] + 1.5 * hint,
    }


def fusion_request(sealed: Sealed, **changes: Any) -> FusionRequest:
    """Return a quick request for the features of one backbone."""
    fields = {
        **QUICK,
        "store": str(sealed.store),
        "address": sealed.address,
        "manifest_digest": sealed.digest,
        "methods": METHODS,
        "gate": GateSettings(components=4, hidden_dim=4, max_epochs=2, patience=1),
        "concatenation": ConcatenationSettings(l2=(0.1, 1.0)),
    }
    return FusionRequest(**{**fields, **changes})


def horizontal_request(*sealed: Sealed, **changes: Any) -> HorizontalRequest:
    """Return a quick request for the features of several backbones."""
    fields = {
        **QUICK,
        "store": str(sealed[0].store),
        "addresses": tuple(one.address for one in sealed),
        "manifest_digests": tuple(one.digest for one in sealed),
        "backbones": tuple(f"backbone{number}" for number, _ in enumerate(sealed)),
    }
    return HorizontalRequest(**{**fields, **changes})
