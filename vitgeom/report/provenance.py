"""Where the results come from, as lists of names and values, whatever the nesting of the plain JSON that says so."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from vitgeom.report.markup import Markup, element

OPEN_UP_TO = 12


def provenance_blocks(provenance: Mapping[str, Any]) -> tuple[Markup, ...]:
    """Return one block per top-level key; long ones are folded.

    Args:
        provenance: Any nesting of plain JSON.
    """
    if not provenance:
        return (element("p", "Not recorded.", class_="muted"),)
    return tuple(_block(key, value) for key, value in provenance.items())


def _block(key: str, value: Any) -> Markup:
    """Show a mapping as a list of its leaves under a heading of its own; anything else on one line."""
    leaves = flatten(value) if isinstance(value, Mapping) and value else {"": value}
    entries = (
        entry
        for name, leaf in leaves.items()
        for entry in (element("dt", name or key), element("dd", _leaf(leaf)))
    )
    listing = element("dl", *entries)
    if not isinstance(value, Mapping) or not value:
        return listing
    return element(
        "details",
        element("summary", f"{key} ({len(leaves)})"),
        listing,
        open="" if len(leaves) <= OPEN_UP_TO else None,
    )


def flatten(tree: Mapping[str, Any], *, path: str = "") -> dict[str, Any]:
    """Return the leaves of nested mappings by dotted path, in their order.

    Args:
        tree: Nested mappings.
        path: Prefix of the paths.
    """
    leaves: dict[str, Any] = {}
    for key, value in tree.items():
        name = f"{path}.{key}" if path else str(key)
        leaves.update(flatten(value, path=name) if isinstance(value, Mapping) and value else {name: value})
    return leaves


def _leaf(value: Any) -> str:
    if value in (None, {}, []):
        return "not recorded" if value == {} else "none"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
