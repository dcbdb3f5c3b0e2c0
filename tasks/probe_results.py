"""The files of one fitted feature store: where they lie, how they are written, when they count as done."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from tasks.request import ProbeRequest
from vitgeom.errors import CorruptData, InvalidInput
from vitgeom.probes import L2_GRID, LayerProbes
from vitgeom.store.fingerprint import fingerprint
from vitgeom.store.uri import Root

RESULT_VERSION = 2
"""Part of every address: raise it when the meaning or the layout of the files changes."""

FILES = ("predictions.safetensors", "probes.json", "probes.safetensors", "recoverability.json")
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


def results_path(request: ProbeRequest) -> str:
    """Return the place below the store's root: ``probes/<data set>/<backbone>/<fingerprint>``.

    Args:
        request: Where the store is and how many threads compute does not matter.
    """
    _, dataset, backbone, _ = request.address.split("/")
    fields = request.model_dump(mode="json", exclude={"store", "address", "threads"})
    content = {**fields, "l2": list(strengths(request)), "version": RESULT_VERSION}
    return f"probes/{dataset}/{backbone}/{fingerprint(content)[:16]}"


def strengths(request: ProbeRequest) -> tuple[float, ...]:
    """Return the L2 strengths to try: those of the request, or the library's own grid."""
    return request.l2 or L2_GRID


def describe_probes(probes: LayerProbes) -> dict[str, Any]:
    """Return what a reader wants to know of fitted probes, as plain JSON.

    Args:
        probes: Their tensors are a file of their own.

    Returns:
        ``meta`` rebuilds the probes (``LayerProbes.from_parts``; its ``best_layer`` counts from 0); ``layers`` has one entry
        per layer, counted from 1, for the strength that validation chose.
    """
    chosen = probes.chosen.tolist()
    layers = [
        {
            "layer": number + 1,
            "l2": float(probes.l2_grid[strength]),
            "val_accuracy": float(probes.val_accuracy[number, strength]),
            "val_loss": float(probes.val_loss[number, strength]),
            "grad_norm": float(probes.final_grad_norm[number]),
            "converged": bool(probes.final_converged[number]),
            "iterations": int(probes.iterations[number, strength]),
        }
        for number, strength in enumerate(chosen)
    ]
    return {
        "meta": probes.meta(),
        "layers": layers,
        "l2_grid": probes.l2_grid.tolist(),
        "marked": [number + 1 for number in probes.marked],
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
        target: From ``results_path``.
        files: Exactly ``FILES``.
        rows: Samples that they cover.
        seconds: What computing them took; only the record holds it.
        peak_bytes: Largest memory of the process that computed them, likewise.
        detail: Headline figures for the receipt.

    Returns:
        The record, with a checksum over all of it.
    """
    assert sorted(files) == sorted(FILES), f"results are {FILES}, got {sorted(files)}"
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


def finished_results(target: Root) -> dict[str, Any] | None:
    """Return the record of results that are there and whole, else None: they are then computed again.

    Args:
        target: From ``results_path``.
    """
    if not target.exists(DONE):
        return None
    try:
        record = target.read_json(DONE)
        if not _is_whole(record) or any(_digest(target, name) != record["files"][name] for name in FILES):
            return None
    except CorruptData:
        return None
    return dict(record)


def _is_whole(record: Any) -> bool:
    """Return True for exactly what ``write_results`` wrote; an edited figure is not believed."""
    if not isinstance(record, dict) or record.keys() != _FIELDS.keys():
        return False
    if not all(isinstance(record[name], kind) for name, kind in _FIELDS.items()):
        return False
    content = {name: value for name, value in record.items() if name != "checksum"}
    try:
        return fingerprint(content) == record["checksum"] and sorted(record["files"]) == sorted(FILES)
    except InvalidInput:  # a number that is not finite: never written by us
        return False


def _digest(target: Root, name: str) -> str | None:
    data = target.get(name)
    return None if data is None else hashlib.sha256(data).hexdigest()
