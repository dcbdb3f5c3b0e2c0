"""What all trials of a sweep share: probes and held-out logits of every layer, computed once and kept in the store while the sweep runs.

Training and validation rows are read; the test split is not opened.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from functools import lru_cache

from safetensors.torch import load, save
from torch import Tensor

from tasks.fit_fusion import evidence_settings
from tasks.footprint import peak_bytes
from tasks.known_probes import known_probes
from tasks.layer_source import layer_source
from tasks.pinned_features import pinned_features
from tasks.stored_results import finished_results, write_results
from tasks.sweep_request import SweepRequest
from vitgeom.fusion.evidence import Evidence
from vitgeom.fusion.evidence_tensors import evidence_from_tensors, evidence_tensors
from vitgeom.fusion.fit_data import FitData, fit_data
from vitgeom.store.uri import Root

FILE = "evidence.safetensors"


def evidence_place(request: SweepRequest) -> Root:
    """Return where the evidence of a sweep is kept while it runs."""
    return Root(request.store).join(request.path, "evidence")


def store_evidence(request: SweepRequest, *, layers: Sequence[int]) -> None:
    """Compute the evidence from the request's probes, or from features alone, and write it, unless it is there and whole.

    Args:
        request: Which features.
        layers: All that any trial selects.

    Raises:
        InvalidInput: The request's probes are of other features or settings.
    """
    place = evidence_place(request)
    if finished_results(place, required=[FILE]) is not None:
        return
    began = time.perf_counter()
    evidence = Evidence(_rows(request), evidence_settings(request))
    known = known_probes(request.probes, request, manifest_digest=request.manifest_digest)
    if known is not None:
        evidence.know(known)
    files = {FILE: save(evidence_tensors(evidence, layers=layers))}
    rows, seconds = len(evidence.data.target), time.perf_counter() - began
    write_results(place, files, rows=rows, seconds=seconds, peak_bytes=peak_bytes(), detail={})


def drop_evidence(request: SweepRequest) -> None:
    """Remove the evidence of a sweep that is finished."""
    evidence_place(request).remove("", recursive=True)
    stored_evidence.cache_clear()
    _read.cache_clear()


@lru_cache(maxsize=1)
def stored_evidence(request_json: str, start: str) -> Evidence:
    """Return the stored evidence; the last one that this process asked for is kept for its next trial.

    Args:
        request_json: The request as JSON.
        start: Where the trials start that share it. Those with another start have evidence of their own, so that no more than one start is
            in memory; the plan puts trials with the same one next to each other.
    """
    tensors, rows = _read(request_json)
    request = SweepRequest.model_validate_json(request_json)
    return evidence_from_tensors(tensors, data=rows, settings=evidence_settings(request))


@lru_cache(maxsize=1)
def _read(request_json: str) -> tuple[Mapping[str, Tensor], FitData]:
    request = SweepRequest.model_validate_json(request_json)
    return load(evidence_place(request).read_bytes(FILE)), _rows(request)


def _rows(request: SweepRequest) -> FitData:
    store = pinned_features(request.store, request.address, manifest_digest=request.manifest_digest)
    X, X_val = (
        layer_source(store, split, token=request.token, last_layer=request.last_layer)
        for split in ("train", "val")
    )
    y, y_val = (store.read(split, "label") for split in ("train", "val"))
    return fit_data(X, y, X_val, y_val, val_fraction=0.2, seed=request.seed)
