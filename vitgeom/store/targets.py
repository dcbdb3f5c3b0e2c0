"""Creating and opening stores of targets: one store per address, created by its driver, opened by workers and readers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from vitgeom.errors import StoreError
from vitgeom.store.address import TargetAddress
from vitgeom.store.declaration import Declaration, declare, load_declaration
from vitgeom.store.row_store import RowStore
from vitgeom.store.target_layout import TargetLayout
from vitgeom.store.uri import Root, as_root


class TargetStore(RowStore):
    """One store of targets. Make it with :func:`create_targets` or :func:`open_targets`.

    Attributes:
        layout: Shapes, chunks and ranges.
    """

    layout: TargetLayout


def create_targets(
    root: Root | str | Path,
    address: TargetAddress,
    *,
    description: Mapping[str, Any],
    splits: Mapping[str, int],
    num_tokens: int,
    width: int,
    rank: int,
    storage_dtype: str,
    rows_per_range: int,
    sample_id_width: int,
) -> TargetStore:
    """Create an empty store of targets, or return the one that is there already; what is finished stays.

    Called by the one driver of an address (see :mod:`vitgeom.store.lease`), never by workers: it also sweeps what killed writers left
    half-written.

    Args:
        root: Where stores live.
        address: From :meth:`TargetAddress.of` with the same description.
        description: What determines the numbers, from :func:`vitgeom.store.address.describe_targets`.
        splits: Images per split.
        num_tokens: N, prefix tokens included.
        width: D.
        rank: R, the directions that are stored per image.
        storage_dtype: Of the directions: "float32" or "float16".
        rows_per_range: Images of a unit of work.
        sample_id_width: Bytes of the longest sample id (:func:`vitgeom.store.sample_ids.widest_id`).

    Returns:
        The store, complete or not.

    Raises:
        InvalidInput: A number breaks a rule, or the address is not the description's.
        StoreError: The address is occupied by another description or shape, or the place cannot be written.
    """
    layout = TargetLayout.checked(
        splits=splits,
        num_tokens=num_tokens,
        width=width,
        rank=rank,
        storage_dtype=storage_dtype,
        rows_per_range=rows_per_range,
        sample_id_width=sample_id_width,
    )
    declaration = Declaration.checked(address=address, description=description, layout=layout)
    here = as_root(root).join(address.path)
    declare(here, declaration)
    here.sweep()
    return TargetStore(here, address_path=address.path, declaration=declaration)


def open_targets(root: Root | str | Path, address_path: str) -> TargetStore:
    """Open a store that was created before; for workers and readers. Nothing is written.

    Args:
        root: Where stores live.
        address_path: :attr:`TargetAddress.path`.

    Raises:
        StoreError: There is no store of targets at that path, or it was written under another schema version.
        CorruptData: Its declaration is damaged.
    """
    here = as_root(root).join(address_path)
    declaration = load_declaration(here, address_path=address_path)
    if not isinstance(declaration.layout, TargetLayout):
        raise StoreError(
            f"{here.uri} holds features, not targets. Give the address of a store of targets (targets/...)."
        )
    return TargetStore(here, address_path=address_path, declaration=declaration)
