"""Figures of a range of targets, as small JSON beside the arrays, with a checksum of their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from vitgeom.errors import CorruptData
from vitgeom.store.failures import MissingObject
from vitgeom.store.fingerprint import fingerprint
from vitgeom.store.row_store import RowStore

FOLDER = "figures"


def write_figures(store: RowStore, split: str, start: int, figures: Sequence[Mapping[str, Any]]) -> None:
    """Write the figures of one range. Called before its arrays are committed, so that a committed range has them.

    Args:
        store: Of targets.
        split: Which split.
        start: First row of the range.
        figures: One per row.
    """
    value = {"split": split, "start": start, "images": [dict(each) for each in figures]}
    store.root.write_json(figures_key(split, start), {**value, "checksum": fingerprint(value)})


def read_figures(store: RowStore, split: str, start: int) -> list[dict[str, Any]]:
    """Return the figures of one range.

    Args:
        store: Of targets.
        split: Which split.
        start: First row of the range.

    Raises:
        CorruptData: They are missing or damaged.
    """
    where = f"{store.root.uri}/{figures_key(split, start)}"
    way_out = "Run stage diagnose again: it makes that range anew."
    try:
        value = store.root.read_json(figures_key(split, start))
    except (MissingObject, CorruptData) as error:
        raise CorruptData(f"the figures {where} are missing or no JSON. {way_out}") from error
    content = (
        {key: item for key, item in value.items() if key != "checksum"} if isinstance(value, dict) else {}
    )
    if not content or value.get("checksum") != fingerprint(content):
        raise CorruptData(f"the figures {where} do not match their checksum. {way_out}")
    return list(content["images"])


def figures_key(split: str, start: int) -> str:
    """Return the place of a range's figures below its store.

    Args:
        split: Which split.
        start: First row of the range.
    """
    return f"{FOLDER}/{split}/{start:010d}.json"
