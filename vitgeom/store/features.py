"""Creating and opening feature stores: one store per address, created by its driver, opened by workers and readers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from vitgeom.errors import StoreError
from vitgeom.store.address import FeatureAddress
from vitgeom.store.declaration import Declaration, declare, load_declaration
from vitgeom.store.feature_store import FeatureStore
from vitgeom.store.layout import FeatureLayout
from vitgeom.store.uri import Root, as_root

__all__ = ["FeatureStore", "create_features", "open_features"]


def create_features(
    root: Root | str | Path,
    address: FeatureAddress,
    *,
    description: Mapping[str, Any],
    splits: Mapping[str, int],
    num_layers: int,
    width: int,
    storage_dtype: str,
    rows_per_range: int,
    sample_id_width: int,
    tokens: Sequence[str] = ("cls", "mean"),
    token_layers: Sequence[int] = (),
    num_tokens: int = 0,
) -> FeatureStore:
    """Create an empty feature store, or return the one that is there already; what is finished stays.

    Called by the one driver of an address (see :mod:`vitgeom.store.lease`), never by workers: it also sweeps what killed writers left
    half-written.

    Args:
        root: Where stores live.
        address: From :meth:`FeatureAddress.of` with the same description.
        description: What determines the numbers, from :func:`vitgeom.store.address.describe_features`.
        splits: Rows per split.
        num_layers: L.
        width: D.
        storage_dtype: "float32" or "float16".
        rows_per_range: Rows of a unit of work, and of a chunk of every array but ``tokens``.
        sample_id_width: Bytes of the longest sample id (:func:`vitgeom.store.sample_ids.widest_id`).
        tokens: Which tokens are stored.
        token_layers: Layers, from 0 and rising, all of whose tokens are stored; default none.
        num_tokens: N; needed with ``token_layers``, and only then.

    Returns:
        The store, complete or not.

    Raises:
        InvalidInput: A number breaks a rule, or the address is not the description's.
        StoreError: The address is occupied by another description or shape, or the place cannot be written.
    """
    layout = FeatureLayout.checked(
        splits=splits,
        num_layers=num_layers,
        width=width,
        storage_dtype=storage_dtype,
        rows_per_range=rows_per_range,
        sample_id_width=sample_id_width,
        tokens=tuple(tokens),
        token_layers=tuple(token_layers),
        num_tokens=num_tokens,
    )
    declaration = Declaration.checked(address=address, description=description, layout=layout)
    here = as_root(root).join(address.path)
    declare(here, declaration)
    here.sweep()
    return FeatureStore(here, address_path=address.path, declaration=declaration)


def open_features(root: Root | str | Path, address_path: str) -> FeatureStore:
    """Open a store that was created before; for workers and readers. Nothing is written.

    Args:
        root: Where stores live.
        address_path: :attr:`FeatureAddress.path`.

    Raises:
        StoreError: There is no store at that path, or it was written under another schema version.
        CorruptData: Its declaration is damaged.
    """
    here = as_root(root).join(address_path)
    declaration = load_declaration(here, address_path=address_path)
    if not isinstance(declaration.layout, FeatureLayout):
        raise StoreError(
            f"{here.uri} holds targets, not features. Give the address of a feature store (features/...)."
        )
    return FeatureStore(here, address_path=address_path, declaration=declaration)
