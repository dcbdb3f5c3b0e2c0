"""Targets of exactly the content that a request names."""

from __future__ import annotations

from vitgeom.errors import InvalidInput
from vitgeom.store.targets import TargetStore, open_targets
from vitgeom.store.uri import Root


def pinned_targets(store: str, address: str, *, manifest_digest: str) -> TargetStore:
    """Open sealed targets and refuse others than those that were pinned.

    Args:
        store: URI of the store.
        address: Place in it.
        manifest_digest: Digest of the manifest that the work was planned for.

    Raises:
        InvalidInput: The targets are others now.
        IncompleteData: They are not sealed.
    """
    targets = open_targets(Root(store), address)
    digest = targets.manifest().digest
    if digest != manifest_digest:
        raise InvalidInput(
            f"manifest_digest={manifest_digest[:12]!r} was asked for, but the targets at {targets.root.uri} are {digest[:12]!r}. "
            "Take the digest from the receipt of their making, or make them again."
        )
    return targets
