"""Opening a store whatever it holds: for those who check, and do not read."""

from __future__ import annotations

from pathlib import Path

from vitgeom.store.declaration import load_declaration
from vitgeom.store.features import open_features
from vitgeom.store.row_store import RowStore
from vitgeom.store.target_layout import TargetLayout
from vitgeom.store.targets import open_targets
from vitgeom.store.uri import Root, as_root


def open_store(root: Root | str | Path, address_path: str) -> RowStore:
    """Open a store of features or of targets. Nothing is written.

    Args:
        root: Where stores live.
        address_path: Path of the store below it.

    Raises:
        StoreError: There is no store at that path, or it was written under another schema version.
        CorruptData: Its declaration is damaged.
    """
    declaration = load_declaration(as_root(root).join(address_path), address_path=address_path)
    opened = open_targets if isinstance(declaration.layout, TargetLayout) else open_features
    return opened(root, address_path)
