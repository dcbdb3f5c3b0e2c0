"""Task: how much of a decoder's sensitivity a Spectral Pullback Network captures at each rank, and at what cost (Tune over rank and width).

Finished trials are kept one by one, so a sweep that is interrupted goes on where it was; serial runs, Ray and resumed runs leave the same bytes.
"""

from __future__ import annotations

import time
from typing import Any

from tasks import train_metric
from tasks.footprint import peak_bytes
from tasks.pinned_targets import pinned_targets
from tasks.rank_sweep_request import RankSweepRequest
from tasks.receipt import Receipt
from tasks.stored_results import finished_results, json_bytes, receipt_of, write_results
from tasks.sweep_board import Board
from tasks.sweep_results import COMPLETED, count_states, outcomes
from tasks.trials import RunTrials, in_turn
from vitgeom.errors import IncompleteData, NumericalFailure
from vitgeom.store.figures import read_figures
from vitgeom.store.targets import TargetStore
from vitgeom.store.uri import Root

FILES = ("ranks.json",)


def run(request: RankSweepRequest, run_trials: RunTrials = in_turn) -> Receipt:
    """Sweep and store what was found, unless it is there already.

    Args:
        request: Which targets, which ranks and widths.
        run_trials: Where trials run: here, one after the other, or on a cluster (``tasks.cluster.tuning``). The result is the same.

    Returns:
        Digest over the file; ``detail`` holds one entry per trial and the best width of each rank.

    Raises:
        InvalidInput: The targets are others than those that were pinned.
        NumericalFailure: All trials failed.
        IncompleteData: Some trials are not finished.
    """
    target = Root(request.store).join(request.path)
    record = finished_results(target, required=FILES)
    if record is not None:
        return receipt_of(request, target, record, cached=True)
    store = pinned_targets(request.store, request.address, manifest_digest=request.manifest_digest)
    began = time.perf_counter()
    board = Board(request.plan, ledger=target.join("trials"), rule=request.rule, rivals="rank")
    if board.missing():
        run_trials(request, board)
    if board.missing():
        raise IncompleteData(
            f"{len(board.missing())} of {len(board.trials)} trials of the sweep over ranks are not finished. The others are kept; the same command "
            "computes only the rest."
        )
    found = summarised(board, ceilings=ceilings(store, request.ranks))
    record = write_results(
        target,
        {"ranks.json": json_bytes({**found, "request": request.content()})},
        rows=store.splits["train"] + store.splits["val"],
        seconds=time.perf_counter() - began,
        peak_bytes=peak_bytes(),
        detail=found,
    )
    return receipt_of(request, target, record, cached=False)


def memory(request: RankSweepRequest) -> int:
    """Return an upper estimate of the peak bytes of a process that runs one trial at a time."""
    return max(train_metric.memory(request.trial(parameters)) for parameters in request.plan)


def summarised(board: Board, *, ceilings: dict[int, float | None]) -> dict[str, Any]:
    """Return one entry per trial, and the best one of each rank.

    Args:
        board: All trials, finished.
        ceilings: Mean kappa_cap by rank.

    Raises:
        NumericalFailure: No trial came to its end.
    """
    sizes = {trial.index: trial.num_parameters for trial in board.trials}
    trials = outcomes(board.trials, board.stops())
    entries = [
        {
            "rank": trial["parameters"]["rank"],
            "hidden": trial["parameters"]["hidden"],
            "state": trial["state"],
            "epochs": trial["epochs"] + 1,
            "alignment": None if trial["val_loss"] is None else 1 - trial["val_loss"],
            "captured": trial["val_accuracy"],
            "ceiling": ceilings[trial["parameters"]["rank"]],
            "parameters": sizes[trial["index"]],
            "problem": trial["problem"],
            "curve": trial["curve"],
        }
        for trial in trials
    ]
    completed = [entry for entry in entries if entry["state"] == COMPLETED]
    if not completed:
        raise NumericalFailure(
            f"all {len(entries)} trials of the sweep over ranks failed. The first: {entries[0]['problem']} Change metric.sweep in the parameters."
        )
    best = {
        rank: max(
            (entry for entry in completed if entry["rank"] == rank),
            key=lambda entry: (entry["alignment"], -entry["hidden"]),
        )
        for rank in sorted({entry["rank"] for entry in completed})
    }
    return {
        "trials": entries,
        "best": [{"rank": rank, "hidden": entry["hidden"]} for rank, entry in best.items()],
        "states": count_states(trials),
    }


def ceilings(store: TargetStore, ranks: tuple[int, ...]) -> dict[int, float | None]:
    """Return the mean over validation images of kappa_cap at each rank: the most that a network of that rank can capture.

    Images with fewer directions have captured all with those; a zero Jacobian has no share and is left out.

    Args:
        store: Targets with a validation split.
        ranks: Which ranks.
    """
    curves = [
        each["kappa_caps"]
        for start, _ in store.ranges("val")
        for each in read_figures(store, "val", start)
        if each.get("kappa_caps")
    ]
    return {
        rank: sum(curve[min(rank, len(curve)) - 1] for curve in curves) / len(curves) if curves else None
        for rank in ranks
    }
