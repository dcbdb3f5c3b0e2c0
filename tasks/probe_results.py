"""The files of one feature store's probes: where they lie, and what describes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tasks import stored_results
from tasks.request import ProbeRequest
from vitgeom.probes import L2_GRID, LayerProbes
from vitgeom.store.fingerprint import fingerprint
from vitgeom.store.uri import Root

RESULT_VERSION = 2
"""Part of every address: raise it when the meaning or the layout of the files changes."""

FILES = ("predictions.safetensors", "probes.json", "probes.safetensors", "recoverability.json")


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


def write_results(target: Root, files: Mapping[str, bytes], **measured: Any) -> dict[str, Any]:
    """Write exactly ``FILES``, then the record that makes them count; see ``tasks.stored_results.write_results``."""
    assert sorted(files) == sorted(FILES), f"results are {FILES}, got {sorted(files)}"
    return stored_results.write_results(target, files, **measured)


def finished_results(target: Root) -> dict[str, Any] | None:
    """Return the record of probes that are there and whole, else None: they are then fitted again.

    Args:
        target: From ``results_path``.
    """
    record = stored_results.finished_results(target, required=FILES)
    return record if record is not None and sorted(record["files"]) == sorted(FILES) else None
