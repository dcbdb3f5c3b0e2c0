"""Task: every fitted classifier of one cell on one test set under distribution shift, or on the clean one (A12 of the methods).

Nothing is fitted and nothing is chosen here: classifiers are read as they were stored, and asked twice, about the rows as they are and about
the same rows with batch statistics. For the latter the means and deviations of the unlabelled rows are computed, and nothing else.

n = test rows, L = layers, D = width, W = L D, K = classes, R = seeds, M = methods.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from jaxtyping import Float64
from torch import Tensor

from tasks.extract_features import PROCESS_BYTES, torch_threads
from tasks.footprint import peak_bytes
from tasks.fusion_memory import RESAMPLING_BYTES
from tasks.fusion_results import COMPARISON
from tasks.held_layers import held_bytes, held_layers
from tasks.layer_source import layer_source
from tasks.method_fit import predicted_classes
from tasks.pinned_features import pinned_features
from tasks.pinned_fusion import FittedCell, pinned_fusion
from tasks.receipt import Receipt
from tasks.shift_admission import TEST, admitted
from tasks.shift_request import ShiftRequest
from tasks.shift_results import (
    CLEAN,
    REQUIRED,
    ShiftAnswers,
    batch_statistics,
    result_files,
    shift_path,
)
from tasks.stored_results import finished_results, receipt_of, write_results
from tasks.training_moments import training_moments
from vitgeom.data import ImageDataset, ShiftedTest
from vitgeom.errors import InvalidInput
from vitgeom.fusion.batch_statistics import MIN_ROWS, with_batch_statistics
from vitgeom.fusion.comparison import Comparison
from vitgeom.fusion.scaled_rows import BLOCK_BYTES
from vitgeom.fusion.staged_rows import BLOCK_BYTES as MOMENT_BYTES
from vitgeom.fusion.under_shift import shift_scores
from vitgeom.probes.group_accuracy import group_means
from vitgeom.probes.labels import class_index
from vitgeom.probes.layers import RowSource
from vitgeom.seeding import generator_for
from vitgeom.store.feature_store import FeatureStore
from vitgeom.store.features import open_features
from vitgeom.store.fingerprint import fingerprint
from vitgeom.store.uri import Root

PARAMETER_BYTES = 12
"""A weight in float32, and for some methods in float64 as well."""


def run(request: ShiftRequest) -> Receipt:
    """Ask all classifiers about one shifted test set and store their figures, unless they are there already.

    Written below ``shift/<shifted set>/<backbone>/<fingerprint>``: ``evaluation.json`` (the condition, accuracy and paired differences of
    each method with its clean accuracy beside, the same with batch statistics, and the groups where there are some),
    ``predictions.safetensors`` (class indices by method and seed, once for each way), and ``done.json`` last. Nothing but ``done.json`` holds
    a time, so equal inputs give equal bytes.

    Args:
        request: Which classifiers, and which features.

    Returns:
        Digest over the files; ``detail`` holds the headline figures.

    Raises:
        InvalidInput: Classifiers or features are others than those that were pinned; or they do not belong together: another backbone,
            token or clean dataset, or rows that are no test rows.
        IncompleteData: The features are not sealed, or the classifiers not whole.
    """
    target = Root(request.store).join(shift_path(request))
    features = pinned_features(request.store, request.address, manifest_digest=request.manifest_digest)
    record = finished_results(target, required=REQUIRED)
    if record is not None:
        return receipt_of(request, target, record, cached=True)
    began = time.perf_counter()
    fitted = pinned_fusion(request.fused, digest=request.fused_digest)
    images = admitted(features, fitted, dataset=request.dataset, store=request.store)
    with torch_threads(request.threads):
        files, detail = _compute(features, fitted, images, request)
    rows, seconds = features.splits[TEST], time.perf_counter() - began
    record = write_results(target, files, rows=rows, seconds=seconds, peak_bytes=peak_bytes(), detail=detail)
    return receipt_of(request, target, record, cached=False)


def stored(request: ShiftRequest) -> Receipt | None:
    """Return the receipt of an evaluation that is there and whole, without opening anything else; None if it is to be made.

    Args:
        request: Which classifiers, and which features.

    Raises:
        StoreError: The store cannot be read.
    """
    target = Root(request.store).join(shift_path(request))
    record = finished_results(target, required=REQUIRED)
    return None if record is None else receipt_of(request, target, record, cached=True)


def memory(request: ShiftRequest) -> int:
    """Return an upper estimate of the peak bytes of a process that runs one such unit.

    The test rows, unless they are too large to be held; the largest classifier as file, as tensors and in the form in which it predicts
    (``PARAMETER_BYTES`` each); logits of every layer with their copies; blocks of rows; one layer in float64 and moved, as a classifier that
    reads whole layers asks for it; blocks in float64 that moments are taken of; and the resamples.
    """
    rows, num_layers, width, num_classes, parameters = _size(request.store, request.address, request.fused)
    held = 2 * held_bytes(num_rows=rows, num_layers=num_layers, width=width)
    logits = 6 * rows * num_layers * num_classes * 4
    classifier = 3 * PARAMETER_BYTES * parameters
    adapted = 2 * 8 * rows * width + 4 * MOMENT_BYTES
    return PROCESS_BYTES + held + classifier + logits + adapted + 4 * BLOCK_BYTES + RESAMPLING_BYTES


def _compute(
    features: FeatureStore, fitted: FittedCell, images: ShiftedTest | ImageDataset, request: ShiftRequest
) -> tuple[dict[str, bytes], dict[str, Any]]:
    """Return the files of the results and their headline figures."""
    rows = _rows(features, fitted)
    answers = _answers(fitted, rows, _adapted(rows, fitted, request), labels=features.read(TEST, "label"))
    right = answers.right()
    scores = shift_scores(
        right,
        num_resamples=request.num_bootstrap,
        generator=generator_for(request.seed, "shift"),
    )
    clean = Comparison.from_json(fitted.table["comparison"])
    evaluation = {
        "condition": _condition(images),
        "num_samples": len(answers.target),
        "num_bootstrap": request.num_bootstrap,
        "clean": {
            "num_samples": clean.num_samples,
            "accuracy": {row.name: row.accuracy.to_json() for row in clean.rows},
        },
        "rows": [score.to_json() for score in scores],
        "batch_statistics": batch_statistics(
            right,
            answers.right_adapted(),
            num_bootstrap=request.num_bootstrap,
            generator=generator_for(request.seed, "shift", "batch statistics"),
        ),
        "groups": _groups(right, features, images, request=request),
        "failures": fitted.table["failures"],
        "samples": fingerprint(features.sample_ids(TEST)),
        "origin": {
            "comparison": fitted.comparison_digest,
            "fused": request.fused_digest,
            "features": {"address": request.address, "manifest_digest": request.manifest_digest},
            "clean_features": fitted.features,
        },
    }
    detail = {"accuracy": {score.name: score.accuracy.value for score in scores}}
    return result_files(evaluation, answers), detail


def _answers(
    fitted: FittedCell, rows: RowSource, adapted: RowSource | None, *, labels: np.ndarray
) -> ShiftAnswers:
    """Return the class indices that every classifier gives both ways, and the true ones; one classifier is in memory at a time."""
    given: dict[str, Tensor] = {}
    given_adapted: dict[str, Tensor] = {}
    target: Tensor | None = None
    for method in fitted.seeds():
        lines, lines_adapted = [], []
        for classifier in fitted.classifiers(method):
            lines.append(predicted_classes(classifier, rows))
            if adapted is not None:
                lines_adapted.append(predicted_classes(classifier, adapted))
            own = class_index(labels, classifier.classes_)
            assert target is None or torch.equal(target, own), (
                "methods of one cell were fitted on the same rows"
            )
            target = own
        given[method] = torch.stack(lines)
        if lines_adapted:
            given_adapted[method] = torch.stack(lines_adapted)
    if target is None:
        raise InvalidInput(
            f"{fitted.place.uri} holds no fitted method. Look at its failures, and run stage fuse again."
        )
    return ShiftAnswers(given, given_adapted, target)


def _adapted(rows: RowSource, fitted: FittedCell, request: ShiftRequest) -> RowSource | None:
    """Return the test rows with batch statistics; None where they are too few for these."""
    if rows.num_rows < MIN_ROWS:
        return None
    pinned, settings = fitted.features, fitted.settings
    training = training_moments(
        request.store,
        pinned["address"],
        manifest_digest=pinned["manifest_digest"],
        token=settings["token"],
        last_layer=settings["last_layer"],
    )
    return with_batch_statistics(rows, like=training)


def _rows(features: FeatureStore, fitted: FittedCell) -> RowSource:
    settings = fitted.settings
    source = layer_source(features, TEST, token=settings["token"], last_layer=settings["last_layer"])
    return held_layers(source, num_rows=features.splits[TEST], width=features.width)


def _condition(images: ShiftedTest | ImageDataset) -> dict[str, Any]:
    told = {
        "source": images.source,
        "classes": {"present": len(set(images.splits[TEST].labels.tolist())), "all": len(images.classes)},
    }
    if isinstance(images, ImageDataset):
        return {**told, "set": CLEAN, "corruption": None, "severity": None, "unknown_classes": []}
    return {
        **told,
        "set": images.name,
        "corruption": images.corruption,
        "severity": images.severity,
        "unknown_classes": list(images.unknown_classes),
    }


def _groups(
    right: Mapping[str, Float64[Tensor, " n"]],
    features: FeatureStore,
    images: ShiftedTest | ImageDataset,
    *,
    request: ShiftRequest,
) -> dict[str, Any] | None:
    """Return accuracy per sub-population with the worst and the mean of them; None for a set that has none."""
    groups = torch.from_numpy(features.read(TEST, "group"))
    if not images.subpopulations or int(groups.max()) < 0:
        return None
    report = group_means(
        torch.stack(list(right.values())),
        groups,
        names=images.subpopulations,
        num_resamples=request.num_bootstrap,
        generator=generator_for(request.seed, "shift", "groups"),
    )
    return {
        "counts": report.counts,
        "absent": list(report.absent),
        "without_group": report.without_group,
        "methods": {
            name: {
                "per_group": {group: item.to_json() for group, item in found.per_group.items()},
                "worst": found.worst.to_json(),
                "worst_group": found.worst_group,
                "mean": found.mean.to_json(),
            }
            for name, found in zip(right, report.methods, strict=True)
        },
    }


@lru_cache(maxsize=64)
def _size(store: str, address: str, fused: str) -> tuple[int, int, int, int, int]:
    """Return test rows, layers, width, classes, and the parameters of the largest classifier."""
    features, table = open_features(Root(store), address), Root(fused).read_json(COMPARISON)
    clean = open_features(Root(store), table["features"]["address"])
    num_classes = len(np.unique(clean.read("train", "label")))
    parameters = max((entry["parameters"] for entry in table["methods"]), default=0)
    return features.splits.get(TEST, 0), features.num_layers, features.width, num_classes, parameters
