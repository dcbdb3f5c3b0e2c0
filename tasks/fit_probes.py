"""Task: one probe per layer of sealed features, and what earlier layers know that the last one gets wrong (A2, A3).

n = rows, L = layers, D = width, K = classes. One layer of features is in memory at a time.
"""

from __future__ import annotations

import time
from functools import lru_cache
from typing import Any

from safetensors.torch import save

from tasks.extract_features import PROCESS_BYTES, torch_threads
from tasks.footprint import peak_bytes
from tasks.layer_source import layer_source
from tasks.probe_results import finished_results, json_bytes, results_path, strengths, write_results
from tasks.receipt import Receipt
from tasks.request import ProbeRequest
from vitgeom.errors import InvalidInput
from vitgeom.probes import LayerProbes, fit_probes
from vitgeom.probes.memory import DEFAULT_BYTE_BUDGET, bytes_per_layer, bytes_per_problem
from vitgeom.seeding import generator_for
from vitgeom.store.features import FeatureStore, open_features
from vitgeom.store.uri import Root


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
    store = open_features(Root(request.store), request.address)
    _check_pinned(store, request)
    target = Root(request.store).join(results_path(request))
    record = finished_results(target)
    if record is not None:
        return _receipt(request, target, record, cached=True)
    began = time.perf_counter()
    with torch_threads(request.threads):
        files, detail = _compute(store, request)
    rows, seconds = sum(store.splits.values()), time.perf_counter() - began
    record = write_results(target, files, rows=rows, seconds=seconds, detail=detail)
    return _receipt(request, target, record, cached=False)
