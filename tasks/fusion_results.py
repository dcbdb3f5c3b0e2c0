"""What a comparison of fused classifiers leaves: where it lies, and the content of its files.

n = test rows, R = seeds, L = layers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from jaxtyping import Int64
from safetensors.torch import save
from torch import Tensor

from tasks.classifier_files import classifier_bytes, classifier_name
from tasks.fusion_request import FusionRequest, HorizontalRequest
from tasks.method_fit import FailedMethod, FittedMethod
from tasks.stored_results import json_bytes
from vitgeom.fusion.comparison import Comparison
from vitgeom.store.fingerprint import fingerprint

RESULT_VERSION = 1
"""Part of every address: raise it when the meaning or the layout of the files changes."""

COMPARISON, PREDICTIONS = "comparison.json", "predictions.safetensors"
REQUIRED = (COMPARISON, PREDICTIONS)
TARGET, LAYERS = "target", "layers"
"""Tensors in the file of predictions that are no method's."""


def fusion_path(request: FusionRequest) -> str:
    """Return the place below the store's root: ``fusion/<data set>/<backbone>/<fingerprint>``.

    Args:
        request: Where the store is and how many threads compute does not matter.
    """
    _, dataset, backbone, _ = request.address.split("/")
    return f"fusion/{dataset}/{backbone}/{_fingerprint(request.content())}"


def horizontal_path(request: HorizontalRequest) -> str:
    """Return the place below the store's root: ``horizontal/<data set>/<fingerprint>``.

    Args:
        request: Where the store is and how many threads compute does not matter.
    """
    _, dataset, *_ = request.addresses[0].split("/")
    return f"horizontal/{dataset}/{_fingerprint(request.content())}"


def result_files(
    fits: Sequence[FittedMethod | FailedMethod],
    comparison: Comparison,
    *,
    predicted: Mapping[str, Int64[Tensor, "R n"]],
    target: Int64[Tensor, " n"],
    layers: Int64[Tensor, "L n"],
    origin: Mapping[str, Any],
) -> dict[str, bytes]:
    """Return every file by name: the table, the predictions behind it, and the classifiers that made them.

    Args:
        fits: What became of each method, in the order of the table.
        comparison: How they compare.
        predicted: Class indices of every row of the table.
        target: The true ones, -1 for a class that training never showed.
        layers: Those of each layer's probe.
        origin: Which features, rows and settings.
    """
    done = [fit for fit in fits if isinstance(fit, FittedMethod)]
    table = {
        "comparison": comparison.to_json(),
        "methods": [fit.describe() for fit in done],
        "failures": [fit.describe() for fit in fits if isinstance(fit, FailedMethod)],
        **origin,
    }
    tensors = {**predicted, TARGET: target, LAYERS: layers}
    return {
        COMPARISON: json_bytes(table),
        PREDICTIONS: save(
            {name: tensor.clone(memory_format=torch.contiguous_format) for name, tensor in tensors.items()}
        ),
        **{
            classifier_name(fit.entry.name, seed): classifier_bytes(one)
            for fit in done
            for seed, one in zip(fit.seeds, fit.classifiers, strict=True)
        },
    }


def headline(fits: Sequence[FittedMethod | FailedMethod], comparison: Comparison) -> dict[str, Any]:
    """Return the figures of a receipt; times stand here alone, for the digest does not cover them.

    Args:
        fits: What became of each method.
        comparison: How they compare.
    """
    return {
        "accuracy": {row.name: row.accuracy.value for row in comparison.rows},
        "gap_closure": {row.name: row.gap_closure for row in comparison.rows},
        "reference": comparison.reference,
        "oracle": comparison.oracle,
        "failures": {fit.entry.name: fit.error for fit in fits if isinstance(fit, FailedMethod)},
        "seconds_per_image": {
            fit.entry.name: fit.cost.seconds_per_image for fit in fits if isinstance(fit, FittedMethod)
        },
    }


def _fingerprint(content: Mapping[str, Any]) -> str:
    return fingerprint({**content, "version": RESULT_VERSION})[:16]
