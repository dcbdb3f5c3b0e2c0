"""Files of one unit's results: written first, then the record that makes them count; nothing but the record holds a time."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping
from typing import Any

from tasks.receipt import Receipt
from tasks.request import Request
from vitgeom.errors import CorruptData, InvalidInput
from vitgeom.store.fingerprint import fingerprint
from vitgeom.store.uri import Root

DONE = "done.json"
_FIELDS: dict[str, type | tuple[type, ...]] = {
    "digest": str,
    "files": dict,
    "rows": int,
    "seconds": (int, float),
    "peak_bytes": int,
    "detail": dict,
    "checksum": str,
}


def json_bytes(value: Mapping[str, Any]) -> bytes:
    """Return a mapping as JSON with sorted keys: equal values, equal bytes."""
    return (json.dumps(value, sort_keys=True, indent=1, allow_nan=False) + "\n").encode("ascii")


def write_results(
    target: Root,
    files: Mapping[str, bytes],
    *,
    rows: int,
    seconds: float,
    peak_bytes: int,
    detail: dict[str, Any],
) -> dict[str, Any]:
    """Write all files, then the record that makes them count.

    Args:
        target: A place of these results alone.
        files: Content by name; equal inputs must give equal bytes.
        rows: Samples that they cover.
        seconds: What computing them took; only the record holds it.
        peak_bytes: Largest memory of the process that computed them, likewise.
        detail: Headline figures for the receipt; they may hold times, for the digest does not cover them.

    Returns:
        The record, with a checksum over all of it.
    """
    for name, data in files.items():
        target.write_bytes(name, data)
    digests = {name: hashlib.sha256(data).hexdigest() for name, data in sorted(files.items())}
    content = {
        "digest": fingerprint(digests),
        "files": digests,
        "rows": rows,
        "seconds": seconds,
        "peak_bytes": peak_bytes,
        "detail": detail,
    }
    record = {**content, "checksum": fingerprint(content)}
    target.write_json(DONE, record)
    return record


def finished_results(target: Root, *, required: Collection[str]) -> dict[str, Any] | None:
    """Return the record of results that are there and whole, else None: they are then computed again.

    Args:
        target: As given to ``write_results``.
        required: Names of files without which results are none.
    """
    if not target.exists(DONE):
        return None
    try:
        record = target.read_json(DONE)
        if not _is_whole(record) or not set(required) <= set(record["files"]):
            return None
        if any(_digest(target, name) != digest for name, digest in record["files"].items()):
            return None
    except CorruptData:
        return None
    return dict(record)


def receipt_of(request: Request, target: Root, record: Mapping[str, Any], *, cached: bool) -> Receipt:
    """Return what a record says as a receipt.

    Args:
        request: Whose results these are.
        target: Where they lie.
        record: From ``write_results`` or ``finished_results``.
        cached: Whether they were there already.
    """
    return Receipt(
        task=request.task,
        key=request.key,
        uri=target.uri,
        digest=record["digest"],
        seconds=record["seconds"],
        peak_bytes=record["peak_bytes"],
        cached=cached,
        rows=record["rows"],
        detail=record["detail"],
    )


def _is_whole(record: Any) -> bool:
    """Return True for exactly what ``write_results`` wrote; an edited figure is not believed."""
    if not isinstance(record, dict) or record.keys() != _FIELDS.keys():
        return False
    if not all(isinstance(record[name], kind) for name, kind in _FIELDS.items()):
        return False
    content = {name: value for name, value in record.items() if name != "checksum"}
    try:
        return fingerprint(content) == record["checksum"]
    except InvalidInput:  # a number that is not finite: never written by us
        return False


def _digest(target: Root, name: str) -> str | None:
    data = target.get(name)
    return None if data is None else hashlib.sha256(data).hexdigest()
