"""Sub-flow: one classifier on all layers, and every method that it is compared with, for every cell.

Reads the manifests that the extract step wrote, so it needs neither images nor backbones nor the probe step.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from flows import console
from flows.cell import Cell
from flows.engine_scope import engine_for
from flows.fusion_requests import fusion_request_for
from flows.outcome import Outcome, attempt_each, require_all
from flows.results import Results
from flows.steps import flow, task
from flows.study import Resolved, Study
from flows.together import CellWork
from tasks import fit_fusion
from tasks.engine import Engine
from tasks.fusion_request import FusionRequest
from tasks.receipt import Receipt


@flow(name="fuse", run_name="fuse layers")
def fuse(study: Study, left_out: Sequence[str] = ()) -> list[Outcome]:
    """Fit and compare all methods on every cell and copy the comparisons into the results folder.

    Args:
        study: Which cells, and how.
        left_out: Names of cells that are not to be fused, because their features failed.

    Returns:
        One receipt per cell.

    Raises:
        PartsFailed: Some cells failed; the others are stored.
        InvalidInput: The study cannot be understood; nothing was computed.
    """
    wanted = study.resolve()
    results = Results(wanted.out)
    cells = [cell for cell in wanted.cells if cell.name not in left_out]
    work = fusion_work(wanted, results)
    with engine_for(wanted.params.engine) as engine:
        missing = work.missing(cells)
        fitted = fuse_together(len(missing), missing, work=work, engine=engine) if len(missing) > 1 else {}
        outcomes = attempt_each(
            cells,
            lambda cell: fuse_cell(cell.name, cell, work=work, engine=engine, results=results, fitted=fitted),
            on_failure=console.report_failure,
        )
    return require_all("fuse", outcomes)


@task(name="fuse all", run_name="fuse layers of {count} cells")
def fuse_together(
    count: int, missing: Mapping[str, FusionRequest], *, work: CellWork[FusionRequest], engine: Engine
) -> dict[str, Receipt]:
    """Fit what is missing, all at once; ``count`` is what Prefect shows."""
    return work.map_together(missing, engine=engine)


@task(name="fuse", run_name="fuse {name}")
def fuse_cell(
    name: str,
    cell: Cell,
    *,
    work: CellWork[FusionRequest],
    engine: Engine,
    results: Results,
    fitted: Mapping[str, Receipt],
) -> Receipt:
    """Take a cell's comparison from this run or the store, or else make it, and copy its files; ``name`` is what Prefect shows."""
    receipt = work.receipt(cell, engine=engine, fitted=fitted)
    for method, error in receipt.detail["failures"].items():
        console.warn(f"{name}: {method} could not be fitted: {error}")
    results.write_fusion(cell, fused=receipt)
    return receipt


def fusion_work(wanted: Resolved, results: Results) -> CellWork[FusionRequest]:
    """Return how a cell of a study is fused."""
    return CellWork(
        verb="fuse",
        what="fused classifiers",
        request=lambda cell: fusion_request_for(cell, wanted, results),
        stored=fit_fusion.stored,
        rows=lambda cell: results.read_features(cell)[0].num_rows,
    )
