"""Task: VFusion with every combination of a few settings on one feature store, and the best one by validation.

Finished trials are kept one by one, so a sweep that is interrupted goes on where it was. Trials are stopped early by a rule that depends on
learning curves alone (:mod:`tasks.halving`), so serial runs, Ray and resumed runs leave the same bytes.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from tasks.extract_features import torch_threads
from tasks.footprint import peak_bytes
from tasks.pinned_features import pinned_features
from tasks.receipt import Receipt
from tasks.search_space import Parameters, combinations
from tasks.stored_results import finished_results, json_bytes, receipt_of, write_results
from tasks.sweep_board import Board
from tasks.sweep_evidence import drop_evidence, store_evidence
from tasks.sweep_request import SweepRequest
from tasks.sweep_results import count_states, outcomes, winner
from tasks.trials import RunTrials, in_turn
from vitgeom.errors import IncompleteData
from vitgeom.fusion.selection import select_layers
from vitgeom.fusion.vfusion import VFusionClassifier
from vitgeom.store.uri import Root

FILES = ("best.json", "trials.json")


def run(request: SweepRequest, run_trials: RunTrials = in_turn) -> Receipt:
    """Sweep and store what was found, unless it is there already.

    Written below ``sweeps/<data set>/<backbone>/<fingerprint>``: ``trials/`` (each finished trial, as it finishes), ``trials.json`` (all of them),
    ``best.json`` (the winner), and ``done.json`` last. Only training and validation rows are read, so the winner owes nothing to the
    test split.

    Args:
        request: Which features, which settings.
        run_trials: Where trials run: here, one after the other, or on a cluster (``tasks.cluster.tuning``). The result is the same.

    Returns:
        Digest over both files; ``detail`` holds the winner and how many trials were computed in this run.

    Raises:
        InvalidInput: The search space has a fault, or the features are others than those that were pinned.
        NumericalFailure: All trials failed.
        IncompleteData: The features are not sealed.
    """
    features = pinned_features(request.store, request.address, manifest_digest=request.manifest_digest)
    plan = combinations(
        request.space, num_samples=request.num_samples, num_layers=features.num_layers, seed=request.seed
    )
    known = stored(request)
    if known is not None:
        return known
    began = time.perf_counter()
    target = Root(request.store).join(request.path)
    board = Board(plan, ledger=target.join("trials"), rule=request.rule)
    if board.missing():
        with torch_threads(request.threads):
            store_evidence(request, layers=_layers(plan, num_layers=features.num_layers))
        run_trials(request, board)
    _require_all(board)
    found = outcomes(board.trials, board.stops())
    best = winner(found, metric=request.metric)
    counts = count_states(found)
    origin = {"features": {"address": request.address, "manifest_digest": request.manifest_digest}}
    record = write_results(
        target,
        {
            "best.json": json_bytes({**best, "metric": request.metric, "trials": counts, **origin}),
            "trials.json": json_bytes({"trials": found, "request": _settings(request), **origin}),
        },
        rows=features.splits["train"] + features.splits["val"],
        seconds=time.perf_counter() - began,
        peak_bytes=peak_bytes(),
        detail=_detail(best, counts, computed=len(plan) - board.found),
    )
    drop_evidence(request)
    return receipt_of(request, target, record, cached=False)


def stored(request: SweepRequest) -> Receipt | None:
    """Return the receipt of a sweep that is finished and whole, without opening the features; None otherwise.

    Args:
        request: Which features, which settings.

    Raises:
        StoreError: The store cannot be read.
    """
    target = Root(request.store).join(request.path)
    record = finished_results(target, required=FILES)
    return None if record is None else receipt_of(request, target, record, cached=True)


def _layers(plan: Sequence[Parameters], *, num_layers: int) -> list[int]:
    """Return every layer that any trial selects."""
    default = VFusionClassifier().selection
    chosen = {
        layer
        for parameters in plan
        for layer in select_layers(parameters.get("selection", default), num_layers=num_layers)
    }
    return sorted(chosen)


def _require_all(board: Board) -> None:
    missing = board.missing()
    if missing:
        total = len(board.trials)
        raise IncompleteData(
            f"{len(missing)} of {total} trials of the sweep are not finished. The others are kept; the same command computes only the rest."
        )


def _settings(request: SweepRequest) -> dict[str, Any]:
    return {
        name: value for name, value in request.content().items() if name not in ("address", "manifest_digest")
    }


def _detail(best: dict[str, Any], counts: dict[str, int], *, computed: int) -> dict[str, Any]:
    names = ("index", "parameters", "val_loss", "val_accuracy", "num_parameters")
    return {**{name: best[name] for name in names}, "trials": counts, "computed_trials": computed}
