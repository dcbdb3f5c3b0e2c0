"""Task: every method under comparison on the layers of one sealed feature store (A10, A11, A14 of the methods).

n = rows, L = layers, D = width, W = L D, K = classes.
"""

from __future__ import annotations

import time
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from jaxtyping import Int64
from torch import Tensor

from tasks.extract_features import PROCESS_BYTES, torch_threads
from tasks.footprint import peak_bytes
from tasks.fusion_memory import FusionSize, fusion_bytes
from tasks.fusion_parameters import unfitted_method
from tasks.fusion_request import FusionRequest, FusionSettings
from tasks.fusion_results import REQUIRED, fusion_path, headline, result_files
from tasks.held_layers import held_layers
from tasks.known_probes import known_probes
from tasks.layer_source import layer_source
from tasks.method_fit import FittedMethod, first_error, fit_method
from tasks.pinned_features import pinned_features
from tasks.receipt import Receipt
from tasks.stored_results import finished_results, receipt_of, write_results
from tasks.sweep_request import SweepRequest
from vitgeom.backbones import check_device
from vitgeom.errors import NumericalFailure
from vitgeom.fusion.best_layer import best_layer
from vitgeom.fusion.comparison import compare
from vitgeom.fusion.evidence import Evidence, EvidenceSettings, gather_evidence
from vitgeom.fusion.methods import METHODS
from vitgeom.fusion.probe_outcomes import probe_logits
from vitgeom.probes import FunctionLayers
from vitgeom.probes.labels import class_index
from vitgeom.probes.layers import RowSource
from vitgeom.store.feature_store import FeatureStore
from vitgeom.store.features import open_features
from vitgeom.store.uri import Root

REFERENCE = "vfusion"
"""Differences are taken to this method, or to the first of the table if it is not among them."""


def run(request: FusionRequest) -> Receipt:
    """Fit, compare and store all methods on one feature store unless they are there already.

    Written below ``fusion/<data set>/<backbone>/<fingerprint>``: ``comparison.json`` (the table, what was chosen, which
    methods failed and why), ``predictions.safetensors`` (class indices on the test split by method and seed), a
    ``<method>[-<seed>].safetensors`` per fitted classifier, and ``done.json`` last. Nothing but ``done.json`` holds a time, so
    equal inputs give equal bytes.

    Args:
        request: Which features, which methods, and how to fit.

    Returns:
        Digest over the files; ``detail`` holds the headline figures and the measured times per image.

    Raises:
        InvalidInput: The features are others than those that were pinned, or lack the token; or the device is not there.
        IncompleteData: The features are not sealed.
        NumericalFailure: No layer's probe converged, or no method could be fitted at all.
    """
    target = Root(request.store).join(fusion_path(request))
    store = pinned_features(request.store, request.address, manifest_digest=request.manifest_digest)
    record = finished_results(target, required=REQUIRED)
    if record is not None:
        return receipt_of(request, target, record, cached=True)
    check_device(request.device)  # else its lack would be stored as a fault of the methods that need it
    began = time.perf_counter()
    with torch_threads(request.threads):
        files, detail = _compute(store, request)
    rows, seconds = sum(store.splits.values()), time.perf_counter() - began
    record = write_results(target, files, rows=rows, seconds=seconds, peak_bytes=peak_bytes(), detail=detail)
    return receipt_of(request, target, record, cached=False)


def stored(request: FusionRequest) -> Receipt | None:
    """Return the receipt of a comparison that is there and whole, without opening the features; None if it is to be made.

    Args:
        request: Which features, which methods, and how to fit.

    Raises:
        StoreError: The store cannot be read.
    """
    target = Root(request.store).join(fusion_path(request))
    record = finished_results(target, required=REQUIRED)
    return None if record is None else receipt_of(request, target, record, cached=True)


def memory(request: FusionRequest) -> int:
    """Return an upper estimate of the peak bytes of a process that runs one such unit; see ``tasks.fusion_memory``."""
    size = _size(request.store, request.address)
    return PROCESS_BYTES + fusion_bytes(
        size,
        num_problems=max(len(request.l2), request.num_folds),
        components=max(request.encoder.components, request.gate.components),
        most_components=request.concatenation.max_components,
        num_classifiers=sum(_classifiers(name, request) for name in request.methods),
    )


def target_of(evidence: Evidence, labels: np.ndarray) -> Int64[Tensor, " n"]:
    """Return class indices of test labels, -1 for a class that training never showed."""
    return class_index(labels, evidence.data.classes)


def layer_predictions(evidence: Evidence, test: RowSource) -> Int64[Tensor, "L n"]:
    """Return the class index that each layer's probe predicts, one layer in memory at a time.

    Args:
        evidence: Probes of all layers.
        test: Test rows.
    """
    return torch.stack(
        [probe_logits(evidence.probe(layer), test, layer).argmax(dim=1) for layer in range(test.num_layers)]
    )


def evidence_settings(request: FusionSettings | SweepRequest) -> EvidenceSettings:
    """Return how probes and held-out logits are made for a request."""
    return EvidenceSettings(
        l2=request.l2,
        num_folds=request.num_folds,
        tol=request.tol,
        fold_tol=request.fold_tol,
        seed=request.seed,
    )


def _compute(store: FeatureStore, request: FusionRequest) -> tuple[dict[str, bytes], dict[str, Any]]:
    """Return the files of the results and their headline figures."""
    layers = {split: _rows(store, split, request=request) for split in store.splits}
    labels = {split: store.read(split, "label") for split in store.splits}
    with gather_evidence(
        layers["train"], labels["train"], layers["val"], labels["val"], settings=evidence_settings(request)
    ) as evidence:
        known = known_probes(request.probes, request, manifest_digest=request.manifest_digest)
        if known is not None:
            evidence.know(known)
        return _compared(evidence, layers["test"], labels["test"], store=store, request=request)


def _compared(
    evidence: Evidence, test: RowSource, labels: np.ndarray, *, store: FeatureStore, request: FusionRequest
) -> tuple[dict[str, bytes], dict[str, Any]]:
    """Fit every method and compare them on the test rows."""
    fits = [
        fit_method(
            METHODS[name],
            unfitted_method(METHODS[name], request),
            evidence,
            test=test,
            seeds=request.seeds,
        )
        for name in request.methods
    ]
    predicted = {fit.entry.name: fit.predicted for fit in fits if isinstance(fit, FittedMethod)}
    if not predicted:
        raise NumericalFailure(
            f"none of the methods {', '.join(request.methods)} could be fitted; the first says: {first_error(fits)}"
        )
    target, by_layer = target_of(evidence, labels), layer_predictions(evidence, test)
    comparison = compare(
        predicted,
        target,
        layer_predictions=by_layer,
        best_layer=best_layer(evidence),
        reference=REFERENCE if REFERENCE in predicted else next(iter(predicted)),
        seed=request.seed,
        num_resamples=request.num_bootstrap,
    )
    origin = {
        "features": {"address": request.address, "manifest_digest": request.manifest_digest},
        "layers": {"number": test.num_layers, "best": best_layer(evidence)},
        "rows": store.splits,
        "request": request.content(),
    }
    files = result_files(fits, comparison, predicted=predicted, target=target, layers=by_layer, origin=origin)
    return files, headline(fits, comparison)


def _rows(store: FeatureStore, split: str, *, request: FusionRequest) -> FunctionLayers:
    source = layer_source(store, split, token=request.token, last_layer=request.last_layer)
    return held_layers(source, num_rows=store.splits[split], width=store.width)


def _classifiers(name: str, request: FusionRequest) -> int:
    return len(request.seeds) if METHODS[name].stochastic else 1


@lru_cache(maxsize=64)
def _size(store: str, address: str) -> FusionSize:
    features = open_features(Root(store), address)
    labels = features.read("train", "label")
    return FusionSize(
        train=features.splits["train"],
        rows=sum(features.splits.values()),
        num_layers=features.num_layers,
        width=features.width,
        num_classes=len(np.unique(labels)),
    )
