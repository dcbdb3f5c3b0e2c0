"""Means and deviations of the rows that stored classifiers were fitted on, kept by a process for the test sets that follow.

L = layers, D = width.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

from tasks.layer_source import layer_source
from tasks.pinned_features import pinned_features
from vitgeom.fusion.layer_moments import LayerMoments, layer_moments

KEPT = 4
"""Cells whose moments are kept, 16 L D bytes each: their many shifted test sets need the same ones."""


@lru_cache(maxsize=KEPT)
def training_moments(
    store: str,
    address: str,
    *,
    manifest_digest: str,
    token: Literal["cls", "mean"],
    last_layer: Literal["normed", "raw"],
) -> LayerMoments:
    """Return the moments of the training split of sealed features, read once by blocks of rows.

    Args:
        store: URI of the store.
        address: Of the features that the classifiers were fitted on.
        manifest_digest: Of these.
        token: The classifiers' token.
        last_layer: Their last layer.

    Raises:
        InvalidInput: The features are others now, or lack the token.
        IncompleteData: They are not sealed.
    """
    features = pinned_features(store, address, manifest_digest=manifest_digest)
    return layer_moments(layer_source(features, "train", token=token, last_layer=last_layer))
