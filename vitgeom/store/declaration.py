"""The declaration of a store (``address.json``): what it is for and how it is laid out. Written first, changed never."""

from __future__ import annotations

import json
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from vitgeom.errors import CorruptData, InvalidInput, StoreError
from vitgeom.store.address import Address, check_path
from vitgeom.store.arrays import METADATA, array_metadata, group_metadata
from vitgeom.store.failures import MissingObject
from vitgeom.store.fingerprint import canonical_json, fingerprint
from vitgeom.store.layout import FeatureLayout
from vitgeom.store.row_layout import RowLayout
from vitgeom.store.schema import SCHEMA_VERSION, ArraySpec
from vitgeom.store.target_layout import TargetLayout
from vitgeom.store.uri import Root

DECLARATION = "address.json"
_PARALLEL_REQUESTS = 8


@dataclass(frozen=True)
class Declaration:
    """What a store is for (description) and how it is laid out."""

    description: Mapping[str, Any]
    layout: RowLayout

    @classmethod
    def checked(cls, *, address: Address, description: Mapping[str, Any], layout: RowLayout) -> Declaration:
        """Return a declaration whose description is the one of the address.

        Raises:
            InvalidInput: The fingerprints differ.
        """
        if fingerprint(description) != address.fingerprint:
            raise InvalidInput(
                f"description has fingerprint {fingerprint(description)[:16]}, the address {address.fingerprint[:16]}: make the address"
                f" with {type(address).__name__}.of(description, ...)."
            )
        return cls(description=json.loads(canonical_json(description)), layout=layout)

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values with a checksum."""
        value = {
            "schema": SCHEMA_VERSION,
            "description": dict(self.description),
            "layout": self.layout.to_json(),
        }
        return {**value, "checksum": fingerprint(value)}


def declare(here: Root, declaration: Declaration) -> None:
    """Write the declaration and the metadata of every array, or what is missing of them.

    Args:
        here: The store's own place.
        declaration: What it shall be.

    Raises:
        StoreError: Another declaration is there; the differences are listed and nothing is overwritten.
        CorruptData: The declaration that is there is damaged.
    """
    value = declaration.to_json()
    text = (json.dumps(value, sort_keys=True, indent=1) + "\n").encode("ascii")
    if not here.write_new(DECLARATION, text):
        _refuse_other(here, value)
    write_missing_metadata(here, declaration.layout)


def write_missing_metadata(here: Root, layout: RowLayout) -> None:
    """Write the metadata of the groups and arrays that have none yet.

    Args:
        here: The store's own place.
        layout: Which groups and arrays there must be.
    """

    def write(split: str, rows: int, spec: ArraySpec | None) -> None:
        key = f"{split}/{METADATA}" if spec is None else f"{split}/{spec.name}/{METADATA}"
        if here.get(key) is None:
            here.write_bytes(
                key,
                group_metadata(split=split)
                if spec is None
                else array_metadata(spec=spec, layout=layout, rows=rows),
            )

    with ThreadPoolExecutor(_PARALLEL_REQUESTS) as pool:
        jobs = [
            pool.submit(write, split, rows, spec)
            for split, rows in layout.splits
            for spec in (None, *layout.specs)
        ]
        for job in jobs:
            job.result()


def load_declaration(here: Root, *, address_path: str) -> Declaration:
    """Return the declaration of a store.

    Raises:
        StoreError: There is none, or it was written under another schema version.
        CorruptData: It is damaged.
    """
    try:
        value = _read(here)
    except MissingObject as error:
        raise StoreError(
            f"there is no store at {here.uri}. Make it first (features: vitgeom stage extract; targets: vitgeom stage diagnose), or check the address."
        ) from error
    try:
        declaration = Declaration(description=value["description"], layout=_layout(value["layout"]))
        check_path(address_path, declaration.description)
    except (KeyError, TypeError, InvalidInput) as error:
        raise CorruptData(_damaged(here)) from error
    return declaration


def _layout(value: Mapping[str, Any]) -> RowLayout:
    """Return a layout of either kind; only targets say what they are."""
    return (TargetLayout if "kind" in value else FeatureLayout).from_json(value)


def _read(here: Root) -> dict[str, Any]:
    value = here.read_json(DECLARATION)
    if not isinstance(value, dict):
        raise CorruptData(_damaged(here))
    content = {key: item for key, item in value.items() if key != "checksum"}
    if value.get("checksum") != fingerprint(content):
        raise CorruptData(_damaged(here))
    if value.get("schema") != SCHEMA_VERSION:
        raise StoreError(
            f"{here.uri} was written under schema version {value.get('schema')}, this version of vitgeom reads {SCHEMA_VERSION}."
            " Extract again, or use the version that wrote it."
        )
    return value


def _refuse_other(here: Root, wanted: dict[str, Any]) -> None:
    found = _read(here)
    if found == wanted:
        return
    there, asked = _flat(found), _flat(wanted)
    keys = [
        key
        for key in sorted(there.keys() | asked.keys())
        if there.get(key) != asked.get(key) and key != "checksum"
    ]
    listed = "; ".join(
        f"{key}: there {there.get(key, 'nothing')}, asked {asked.get(key, 'nothing')}" for key in keys
    )
    raise StoreError(
        f"{here.uri} is occupied by a store of another shape or description; nothing was overwritten. Differences: {listed}."
        " Use the same settings, another root, or remove that folder."
    )


def _flat(value: Any, prefix: str = "") -> dict[str, Any]:
    if not isinstance(value, Mapping):
        return {prefix: value}
    flat: dict[str, Any] = {}
    for key, item in value.items():
        flat.update(_flat(item, f"{prefix}.{key}" if prefix else str(key)))
    return flat


def _damaged(here: Root) -> str:
    return (
        f"declaration {here.uri}/{DECLARATION} is damaged: its content does not match its checksum. Remove that one file and run the"
        " extraction again: finished ranges stay valid."
    )
