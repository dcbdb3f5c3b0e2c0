"""Task: one probe per layer of sealed features, and what earlier layers know that the last one gets wrong (A2, A3).

n = rows, L = layers, D = width, K = classes. One layer of features is in memory at a time.
"""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from safetensors.torch import save
from torch import Generator, Tensor

from tasks.extract_features import PROCESS_BYTES, torch_threads
from tasks.footprint import peak_bytes
from tasks.layer_source import layer_source
from tasks.pinned_features import pinned_features
from tasks.probe_results import (
    describe_probes,
    finished_results,
    results_path,
    strengths,
    write_results,
)
from tasks.receipt import Receipt
from tasks.request import ProbeRequest
from tasks.stored_results import json_bytes, receipt_of
from vitgeom.probes import FunctionLayers, LayerProbes, fit_probes
from vitgeom.probes.memory import DEFAULT_BYTE_BUDGET, bytes_per_layer, bytes_per_problem
from vitgeom.recoverability import RecoverabilityReport, RefitControl, analyse, refit_control
from vitgeom.seeding import generator_for
from vitgeom.significance import mcnemar, paired_difference
from vitgeom.store.features import FeatureStore, open_features
from vitgeom.store.uri import Root

EVALUATED = ("val", "test")
RESAMPLING_BYTES = 256 * 2**20
"""Resamples of the test split are drawn in chunks of this order."""


def run(request: ProbeRequest) -> Receipt:
    """Fit, evaluate and store the probes of one feature store unless they are there already.

    Written below ``probes/<data set>/<backbone>/<fingerprint>``: ``probes.safetensors`` and ``probes.json`` (the fitted
    probes), ``predictions.safetensors`` (logits and class indices of val and test), ``recoverability.json``, and
    ``done.json`` last. Nothing but ``done.json`` holds a time, so equal inputs give equal bytes.

    Args:
        request: Which features, and how to fit.

    Returns:
        Digest over the files; ``detail`` holds the headline figures.

    Raises:
        InvalidInput: The features are others than those that were pinned, or lack the token.
        IncompleteData: The features are not sealed.
        NumericalFailure: No layer's probe converged.
    """
    store = pinned_features(request.store, request.address, manifest_digest=request.manifest_digest)
    target = Root(request.store).join(results_path(request))
    record = finished_results(target)
    if record is not None:
        return receipt_of(request, target, record, cached=True)
    began = time.perf_counter()
    with torch_threads(request.threads):
        files, detail = _compute(store, request)
    rows, seconds = sum(store.splits.values()), time.perf_counter() - began
    record = write_results(target, files, rows=rows, seconds=seconds, peak_bytes=peak_bytes(), detail=detail)
    return receipt_of(request, target, record, cached=False)


def stored(request: ProbeRequest) -> Receipt | None:
    """Return the receipt of probes that are there and whole, without opening the features; None if they are to be fitted.

    Args:
        request: Which features, and how to fit.

    Raises:
        StoreError: The store cannot be read.
    """
    target = Root(request.store).join(results_path(request))
    record = finished_results(target)
    return None if record is None else receipt_of(request, target, record, cached=True)


def memory(request: ProbeRequest) -> int:
    """Return an upper estimate of the peak bytes of a process that runs one such unit.

    The solver's own budget for one layer, a layer of each other split, the logits of val and test with their copies, and
    the resamples of the intervals.
    """
    size = _size(request.store, request.address)
    train = bytes_per_layer(num_rows=size.train, width=size.width)
    problem = bytes_per_problem(num_rows=size.train, width=size.width, num_classes=size.num_classes)
    problems = max(len(strengths(request)), size.num_layers)
    solver = max(train + problem, min(DEFAULT_BYTE_BUDGET, train + problems * problem))
    layers = 3 * size.rows * size.width * 4
    logits = 6 * (size.rows - size.train) * size.num_layers * size.num_classes * 4
    return PROCESS_BYTES + solver + layers + logits + RESAMPLING_BYTES


@dataclass(frozen=True)
class _Size:
    train: int
    rows: int
    num_layers: int
    width: int
    num_classes: int


@lru_cache(maxsize=64)
def _size(store: str, address: str) -> _Size:
    features = open_features(Root(store), address)
    labels = features.read("train", "label")
    return _Size(
        train=features.splits["train"],
        rows=sum(features.splits.values()),
        num_layers=features.num_layers,
        width=features.width,
        num_classes=len(np.unique(labels)),
    )


def _compute(store: FeatureStore, request: ProbeRequest) -> tuple[dict[str, bytes], dict[str, Any]]:
    """Return the files of the results and their headline figures."""
    layers = {
        split: layer_source(store, split, token=request.token, last_layer=request.last_layer)
        for split in store.splits
    }
    labels = {split: store.read(split, "label") for split in store.splits}
    probes = fit_probes(
        layers["train"],
        labels["train"],
        X_val=layers["val"],
        y_val=labels["val"],
        l2=strengths(request),
        tol=request.tol,
        max_iter=request.max_iter,
        refit=request.refit,
    )
    logits = {split: probes.logits(layers[split]) for split in EVALUATED}
    targets = {split: probes.index(labels[split]) for split in EVALUATED}
    findings, detail = _findings(
        request, probes, layers, labels, logits=logits["test"], targets=targets["test"]
    )
    origin = {"features": {"address": request.address, "manifest_digest": request.manifest_digest}}
    files = {
        "probes.safetensors": save(probes.tensors()),
        "probes.json": json_bytes(
            {**describe_probes(probes), **origin, "rows": store.splits, "request": _settings(request)}
        ),
        "recoverability.json": json_bytes({**findings, **origin}),
        "predictions.safetensors": save(
            {f"{split}_logits": logits[split] for split in EVALUATED}
            | {f"{split}_targets": targets[split] for split in EVALUATED}
        ),
    }
    return files, detail


def _findings(
    request: ProbeRequest,
    probes: LayerProbes,
    layers: dict[str, FunctionLayers],
    labels: dict[str, np.ndarray],
    *,
    logits: Tensor,
    targets: Tensor,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what the test split says: recoverability with its controls, and the best layer against the last."""

    def generator(purpose: str) -> Generator:
        return generator_for(request.seed, "probes", request.manifest_digest, purpose)

    report = analyse(
        logits.transpose(0, 1),
        targets,
        best_layer=probes.best_layer,
        num_bootstrap=request.num_bootstrap,
        generator=generator("recoverability"),
    )
    last = probes.num_layers - 1
    control = None
    if last > 0:
        control = refit_control(
            layers["train"](last),
            labels["train"],
            layers["test"](last),
            labels["test"],
            l2=float(probes.chosen_l2[last]),
            num_refits=last,
            num_bootstrap=request.num_bootstrap,
            tol=request.tol,
            max_iter=request.max_iter,
            generator=generator("refit control"),
        )
    correct = logits.argmax(dim=2) == targets[:, None]
    best_right, last_right = correct[:, probes.best_layer], correct[:, last]
    gain = paired_difference(
        best_right, last_right, num_resamples=request.num_bootstrap, generator=generator("best against last")
    )
    findings = {
        "report": report.to_json(),
        "refit_control": None if control is None else control.to_json(),
        "best_minus_last": {**gain.to_json(), "mcnemar": asdict(mcnemar(best_right, last_right))},
    }
    detail = {
        "best_layer": probes.best_layer,
        "accuracy_best": report.accuracy[probes.best_layer].value,
        "accuracy_last": report.accuracy[last].value,
        "oracle": report.oracle.value,
        "r_any": None if report.r_any is None else report.r_any.value,
        "r_any_luck": None if report.r_any is None else _luck(report, control),
        "errors": report.errors,
        "unconverged_layers": list(probes.marked),
    }
    return findings, detail


def _luck(report: RecoverabilityReport, control: RefitControl | None) -> float:
    """Return the most that R_any reaches without knowledge in the depth: by guessing, shuffled predictions, or refits of the last layer."""
    shuffled, refitted = report.floor_permutation, None if control is None else control.r_any
    levels = [report.floor_uniform]
    levels += [] if shuffled is None else [shuffled.mean]
    levels += [] if refitted is None else [refitted.value]
    return max(levels)


def _settings(request: ProbeRequest) -> dict[str, Any]:
    fields = ("token", "last_layer", "tol", "max_iter", "refit", "num_bootstrap", "seed")
    return request.model_dump(mode="json", include=set(fields))
