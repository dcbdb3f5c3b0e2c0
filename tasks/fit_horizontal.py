"""Task: horizontal fusion of the last layers of several backbones on one dataset (A11, HFusion).

n = rows, B = backbones, D = width.
"""

from __future__ import annotations

import time
from functools import lru_cache
from typing import Any

import numpy as np

from tasks.extract_features import PROCESS_BYTES, torch_threads
from tasks.fit_fusion import evidence_settings, layer_predictions, target_of
from tasks.footprint import peak_bytes
from tasks.fusion_memory import FusionSize, fusion_bytes
from tasks.fusion_parameters import unfitted_method
from tasks.fusion_request import HORIZONTAL, HorizontalRequest
from tasks.fusion_results import REQUIRED, headline, horizontal_path, result_files
from tasks.held_layers import held_layers
from tasks.known_probes import known_probes
from tasks.layer_source import layer_source
from tasks.method_fit import FailedMethod, FittedMethod, first_error, fit_method
from tasks.pinned_features import pinned_features
from tasks.receipt import Receipt
from tasks.stored_results import finished_results, receipt_of, write_results
from vitgeom.backbones import check_device
from vitgeom.errors import InvalidInput, NumericalFailure
from vitgeom.fusion.backbone_rows import BackboneRows, backbone_rows
from vitgeom.fusion.best_layer import best_layer
from vitgeom.fusion.comparison import compare
from vitgeom.fusion.evidence import Evidence, gather_evidence
from vitgeom.fusion.methods import METHODS
from vitgeom.store.feature_store import FeatureStore
from vitgeom.store.features import open_features
from vitgeom.store.uri import Root

LAST_LAYER = "last layer of {backbone}"
"""Name of a row of the table that is one backbone alone."""


def run(request: HorizontalRequest) -> Receipt:
    """Fit, compare and store horizontal fusion unless it is there already.

    Written below ``horizontal/<data set>/<fingerprint>``, the same files as ``tasks.fit_fusion`` writes; the table has a row
    for the last layer of each backbone alone, and its "layers" are the backbones.

    Args:
        request: Which features, and how to fit.

    Returns:
        Digest over the files; ``detail`` holds the headline figures and the measured times per image.

    Raises:
        InvalidInput: Features are others than those that were pinned, lack the token, or are not of the same images; or the device is
            not there.
        IncompleteData: Features are not sealed.
        NumericalFailure: No backbone's probe converged, or nothing could be fitted.
    """
    target = Root(request.store).join(horizontal_path(request))
    stores = [
        pinned_features(request.store, address, manifest_digest=digest)
        for address, digest in zip(request.addresses, request.manifest_digests, strict=True)
    ]
    record = finished_results(target, required=REQUIRED)
    if record is not None:
        return receipt_of(request, target, record, cached=True)
    check_device(request.device)  # else its lack would be stored as a fault of the methods that need it
    began = time.perf_counter()
    with torch_threads(request.threads):
        files, detail = _compute(stores, request)
    rows, seconds = sum(stores[0].splits.values()), time.perf_counter() - began
    record = write_results(target, files, rows=rows, seconds=seconds, peak_bytes=peak_bytes(), detail=detail)
    return receipt_of(request, target, record, cached=False)


def stored(request: HorizontalRequest) -> Receipt | None:
    """Return the receipt of a comparison that is there and whole, without opening the features; None if it is to be made.

    Args:
        request: Which features, and how to fit.

    Raises:
        StoreError: The store cannot be read.
    """
    target = Root(request.store).join(horizontal_path(request))
    record = finished_results(target, required=REQUIRED)
    return None if record is None else receipt_of(request, target, record, cached=True)


def memory(request: HorizontalRequest) -> int:
    """Return an upper estimate of the peak bytes of a process that runs one such unit; see ``tasks.fusion_memory``."""
    return PROCESS_BYTES + fusion_bytes(
        _size(request.store, request.addresses),
        num_problems=max(len(request.l2), request.num_folds),
        components=request.encoder.components,
        most_components=request.encoder.components,
        num_classifiers=len(request.seeds) * len(HORIZONTAL),
    )


def _compute(
    stores: list[FeatureStore], request: HorizontalRequest
) -> tuple[dict[str, bytes], dict[str, Any]]:
    """Return the files of the results and their headline figures."""
    labels = {split: _same_labels(stores, split, request=request) for split in stores[0].splits}
    rows = {split: _rows(stores, split, request=request) for split in labels}
    with gather_evidence(
        rows["train"], labels["train"], rows["val"], labels["val"], settings=evidence_settings(request)
    ) as evidence:
        _take_probes(evidence, request)
        return _compared(evidence, rows["test"], labels["test"], stores=stores, request=request)


def _take_probes(evidence: Evidence, request: HorizontalRequest) -> None:
    """Take the stored probe of each backbone's last layer; the request may name none at all."""
    for number, place in enumerate(request.probes):
        known = known_probes(place, request, manifest_digest=request.manifest_digests[number])
        if known is not None:
            evidence.know_layer(number, known, number=known.num_layers - 1)


def _compared(
    evidence: Evidence,
    test: BackboneRows,
    labels: np.ndarray,
    *,
    stores: list[FeatureStore],
    request: HorizontalRequest,
) -> tuple[dict[str, bytes], dict[str, Any]]:
    """Fit horizontal fusion and compare it with each backbone alone on the test rows."""
    fits = [_fit(name, request, evidence=evidence, test=test) for name in HORIZONTAL]
    target, by_backbone = target_of(evidence, labels), layer_predictions(evidence, test)
    fused = {fit.entry.name: fit.predicted for fit in fits if isinstance(fit, FittedMethod)}
    if not fused:
        raise NumericalFailure(f"{', '.join(HORIZONTAL)} could not be fitted: {first_error(fits)}")
    alone = {
        LAST_LAYER.format(backbone=name): by_backbone[number, None]
        for number, name in enumerate(request.backbones)
    }
    comparison = compare(
        {**alone, **fused},
        target,
        layer_predictions=by_backbone,
        best_layer=best_layer(evidence),
        reference=next(iter(fused)),
        seed=request.seed,
        num_resamples=request.num_bootstrap,
    )
    origin = {
        "features": [
            {"backbone": backbone, "address": address, "manifest_digest": digest}
            for backbone, address, digest in zip(
                request.backbones, request.addresses, request.manifest_digests, strict=True
            )
        ],
        "layers": {"number": len(stores), "best": best_layer(evidence)},
        "rows": stores[0].splits,
        "request": request.content(),
    }
    files = result_files(
        fits, comparison, predicted={**alone, **fused}, target=target, layers=by_backbone, origin=origin
    )
    return files, headline(fits, comparison)


def _fit(
    name: str, request: HorizontalRequest, *, evidence: Evidence, test: BackboneRows
) -> FittedMethod | FailedMethod:
    entry = METHODS[name]
    return fit_method(
        entry,
        unfitted_method(entry, request),
        evidence,
        test=test,
        seeds=request.seeds,
        backbone_passes=len(request.addresses),
    )


def _rows(stores: list[FeatureStore], split: str, *, request: HorizontalRequest) -> BackboneRows:
    sources = [
        held_layers(
            layer_source(store, split, token=request.token, last_layer=request.last_layer),
            num_rows=store.splits[split],
            width=store.width,
        )
        for store in stores
    ]
    return backbone_rows(sources, name=split)


def _same_labels(stores: list[FeatureStore], split: str, *, request: HorizontalRequest) -> np.ndarray:
    """Return the labels of a split, which all stores must hold of the same images in the same order."""
    names = [store.sample_ids(split) for store in stores]
    for address, other in zip(request.addresses[1:], names[1:], strict=True):
        if other != names[0]:
            raise InvalidInput(
                f"addresses must be of the same images in the same order, but split {split!r} of {address} is not that of "
                f"{request.addresses[0]}. Name features of one dataset."
            )
    labels: np.ndarray = stores[0].read(split, "label")
    return labels


@lru_cache(maxsize=64)
def _size(store: str, addresses: tuple[str, ...]) -> FusionSize:
    features = [open_features(Root(store), address) for address in addresses]
    return FusionSize(
        train=features[0].splits["train"],
        rows=sum(features[0].splits.values()),
        num_layers=len(features),
        width=max(one.width for one in features),
        num_classes=len(np.unique(features[0].read("train", "label"))),
    )
