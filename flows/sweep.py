"""Sub-flow: VFusion with many settings on every cell's features, and the best one by validation. Part of a benchmark only where it is asked for: it takes its time.

Reads the manifests that the extract step wrote, and takes the probes that the probe step has stored, if it has. A sweep that was interrupted goes on where it was; a finished one is not computed again.
"""

from __future__ import annotations

from collections.abc import Sequence

from flows import console
from flows.cell import Cell
from flows.engine_scope import engine_for
from flows.fusion_requests import fitted_probes
from flows.outcome import Outcome, attempt_each, require_all
from flows.results import Results
from flows.steps import flow, task
from flows.study import Resolved, Study
from flows.sweep_record import record_sweeps
from tasks import sweep_fusion
from tasks.engine import Engine
from tasks.receipt import Receipt
from tasks.sweep_engine import trials_on
from tasks.sweep_request import SweepRequest


@flow(name="sweep", run_name="sweep fusion settings")
def sweep(study: Study, left_out: Sequence[str] = ()) -> list[Outcome]:
    """Sweep every cell, copy what was found into the results folder, and record the trials.

    Args:
        study: Which cells, and how.
        left_out: Names of cells that are not to be swept.

    Returns:
        One receipt per cell.

    Raises:
        PartsFailed: Some cells failed; the others are stored.
        InvalidInput: The study cannot be understood; nothing was computed.
    """
    wanted = study.resolve()
    results = Results(wanted.out)
    with engine_for(wanted.params.engine) as engine:
        outcomes = attempt_each(
            [cell for cell in wanted.cells if cell.name not in left_out],
            lambda cell: sweep_cell(cell.name, cell, wanted=wanted, engine=engine, results=results),
            on_failure=console.report_failure,
        )
    record_sweeps(wanted, outcomes)
    return require_all("sweep", outcomes)


@task(name="sweep", run_name="sweep {name}")
def sweep_cell(name: str, cell: Cell, *, wanted: Resolved, engine: Engine, results: Results) -> Receipt:
    """Take a cell's sweep from the store, or else run it, and copy its files; ``name`` is what Prefect shows."""
    request = request_for(cell, wanted, results)
    receipt = sweep_fusion.stored(request) or sweep_fusion.run(request, trials_on(engine))
    results.write_sweep(cell, swept=receipt)
    console.say(_said(name, receipt))
    return receipt


def request_for(cell: Cell, wanted: Resolved, results: Results) -> SweepRequest:
    """Return the request that belongs to a cell's features and a profile's parameters.

    Raises:
        InvalidInput: The cell has no manifest yet.
    """
    manifest, _ = results.read_features(cell)
    params = wanted.params
    return SweepRequest(
        store=wanted.store,
        address=manifest.address,
        manifest_digest=manifest.digest,
        probes=fitted_probes(manifest, wanted),
        seed=params.seed,
        **params.probe.model_dump(include={"token", "last_layer", "l2", "tol"}),
        **params.fusion.model_dump(include={"num_folds", "fold_tol", "encoder"}),
        **params.sweep.model_dump(exclude={"datasets"}),
    )


def _said(name: str, receipt: Receipt) -> str:
    found = receipt.detail
    states = ", ".join(f"{count} {state}" for state, count in found["trials"].items() if count)
    chosen = ", ".join(f"{key}={value}" for key, value in sorted(found["parameters"].items()))
    how = "cached" if receipt.cached else f"{found['computed_trials']} computed"
    return (
        f"sweep {name}: {states} ({how}); best on validation: {chosen} (log-loss {found['val_loss']:.4f}, "
        f"accuracy {100 * found['val_accuracy']:.1f} %)"
    )
