"""Sub-flow: one linear probe per layer for every cell, and what earlier layers recover of the last layer's errors.

Reads the manifests that the extract step wrote, so it needs neither images nor backbones. All cells are fitted together, which keeps every
CPU busy; what is fitted already is not sent to the engine at all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from flows import console
from flows.cell import Cell
from flows.engine_scope import engine_for
from flows.outcome import Outcome, attempt_each, require_all
from flows.results import Results
from flows.steps import flow, task
from flows.study import Resolved, Study
from flows.together import CellWork
from tasks import fit_probes
from tasks.engine import Engine
from tasks.receipt import Receipt
from tasks.request import ProbeRequest
from vitgeom.store.manifest import Manifest


@flow(name="probe", run_name="fit probes")
def probe(study: Study, left_out: Sequence[str] = ()) -> list[Outcome]:
    """Fit the probes of every cell and copy them into the results folder.

    Args:
        study: Which cells, and how.
        left_out: Names of cells that are not to be probed, because their features failed.

    Returns:
        One receipt per cell.

    Raises:
        PartsFailed: Some cells failed; the others are stored.
        InvalidInput: The study cannot be understood; nothing was computed.
    """
    wanted = study.resolve()
    results = Results(wanted.out)
    cells = [cell for cell in wanted.cells if cell.name not in left_out]
    work = probe_work(wanted, results)
    with engine_for(wanted.params.engine) as engine:
        missing = work.missing(cells)
        fitted = fit_together(len(missing), missing, work=work, engine=engine) if len(missing) > 1 else {}
        outcomes = attempt_each(
            cells,
            lambda cell: probe_cell(
                cell.name, cell, work=work, engine=engine, results=results, fitted=fitted
            ),
            on_failure=console.report_failure,
        )
    return require_all("probe", outcomes)


@task(name="fit probes", run_name="fit probes of {count} cells")
def fit_together(
    count: int, missing: Mapping[str, ProbeRequest], *, work: CellWork[ProbeRequest], engine: Engine
) -> dict[str, Receipt]:
    """Fit what is missing, all at once; ``count`` is what Prefect shows."""
    return work.map_together(missing, engine=engine)


@task(name="probe", run_name="probe {name}")
def probe_cell(
    name: str,
    cell: Cell,
    *,
    work: CellWork[ProbeRequest],
    engine: Engine,
    results: Results,
    fitted: Mapping[str, Receipt],
) -> Receipt:
    """Take a cell's probes from this run or the store, or else fit them, and copy their files; ``name`` is what Prefect shows."""
    receipt = work.receipt(cell, engine=engine, fitted=fitted)
    results.write_probes(cell, fitted=receipt)
    return receipt


def probe_work(wanted: Resolved, results: Results) -> CellWork[ProbeRequest]:
    """Return how a cell of a study is probed."""
    return CellWork(
        verb="probe",
        what="probes",
        request=lambda cell: request_for(cell, wanted, results),
        stored=fit_probes.stored,
        rows=lambda cell: results.read_features(cell)[0].num_rows,
    )


def request_for(cell: Cell, wanted: Resolved, results: Results) -> ProbeRequest:
    """Return the request that belongs to a cell's features and a profile's parameters.

    Raises:
        InvalidInput: The cell has no manifest yet.
    """
    manifest, _ = results.read_features(cell)
    return request_from(manifest, wanted)


def request_from(manifest: Manifest, wanted: Resolved) -> ProbeRequest:
    """Return the request that belongs to sealed features and a profile's parameters."""
    return ProbeRequest(
        store=wanted.store,
        address=manifest.address,
        manifest_digest=manifest.digest,
        num_bootstrap=wanted.params.recoverability.num_bootstrap,
        seed=wanted.params.seed,
        **wanted.params.probe.model_dump(),
    )
