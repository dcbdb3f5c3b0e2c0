"""Features of exactly the content that a request names."""

from __future__ import annotations

from vitgeom.errors import InvalidInput
from vitgeom.store.features import FeatureStore, open_features
from vitgeom.store.uri import Root


def pinned_features(store: str, address: str, *, manifest_digest: str) -> FeatureStore:
    """Open sealed features and refuse others than those that were pinned.

    Args:
        store: URI of the store.
        address: Place in it.
        manifest_digest: Digest of the manifest that the work was planned for.

    Raises:
        InvalidInput: The features are others now.
        IncompleteData: They are not sealed.
    """
    features = open_features(Root(store), address)
    digest = features.manifest().digest
    if digest != manifest_digest:
        raise InvalidInput(
            f"manifest_digest={manifest_digest[:12]!r} was asked for, but the features at {features.root.uri} are {digest[:12]!r}. "
            "Take the digest from the receipt of their extraction, or extract again."
        )
    return features
