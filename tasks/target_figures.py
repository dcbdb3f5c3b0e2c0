"""The figures of a range of diagnosed images, as small JSON beside the arrays: everything that is one number or one short list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from vitgeom.errors import CorruptData
from vitgeom.spectra import Diagnosis
from vitgeom.spectra.dataset import image_of
from vitgeom.spectra.theorems import BoundCheck
from vitgeom.store.failures import MissingObject
from vitgeom.store.fingerprint import fingerprint
from vitgeom.store.row_store import RowStore
from vitgeom.store.schema import TARGETS

FOLDER = "figures"


def image_figures(
    diagnosis: Diagnosis, checks: Mapping[str, BoundCheck], *, sample: str, image: int
) -> dict[str, Any]:
    """Return what a diagnosis says but for the arrays that the store holds.

    Args:
        diagnosis: Of one image.
        checks: Of its bounds, by name.
        sample: Its sample id.
        image: Its row in the split of the dataset.
    """
    told = {key: value for key, value in diagnosis.to_json().items() if key not in TARGETS}
    return {
        "sample": sample,
        "image": image,
        "aggregate": image_of(diagnosis).to_json(),
        "theorems": [{"check": name, **check.to_json()} for name, check in checks.items()],
        **told,
    }


def write_figures(store: RowStore, split: str, start: int, figures: Sequence[Mapping[str, Any]]) -> None:
    """Write the figures of one range. Called before its arrays are committed, so that a committed range has them.

    Args:
        store: Of targets.
        split: Which split.
        start: First row of the range.
        figures: One per row.
    """
    value = {"split": split, "start": start, "images": [dict(each) for each in figures]}
    store.root.write_json(_key(split, start), {**value, "checksum": fingerprint(value)})


def read_figures(store: RowStore, split: str, start: int) -> list[dict[str, Any]]:
    """Return the figures of one range.

    Args:
        store: Of targets.
        split: Which split.
        start: First row of the range.

    Raises:
        CorruptData: They are missing or damaged.
    """
    where = f"{store.root.uri}/{_key(split, start)}"
    way_out = "Run stage diagnose again: it makes that range anew."
    try:
        value = store.root.read_json(_key(split, start))
    except (MissingObject, CorruptData) as error:
        raise CorruptData(f"the figures {where} are missing or no JSON. {way_out}") from error
    content = (
        {key: item for key, item in value.items() if key != "checksum"} if isinstance(value, dict) else {}
    )
    if not content or value.get("checksum") != fingerprint(content):
        raise CorruptData(f"the figures {where} do not match their checksum. {way_out}")
    return list(content["images"])


def _key(split: str, start: int) -> str:
    return f"{FOLDER}/{split}/{start:010d}.json"
