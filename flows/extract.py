"""Sub-flow: layer features of every cell, computed only where they are not stored yet.

The manifest of each cell's features is the result: a small file that the next steps, DVC and the tracker read. Prefect neither retries nor
caches here: the engine retries single ranges, and the store is the ledger of what is done.
"""

from __future__ import annotations

from flows import console
from flows.cell import Cell
from flows.engine_scope import engine_for
from flows.outcome import Outcome, attempt_each, require_all
from flows.params import Extract
from flows.results import Results
from flows.steps import flow, task
from flows.study import Study
from tasks.engine import Engine
from tasks.extract_dataset import extract as extract_dataset
from tasks.receipt import Receipt
from tasks.request import ExtractSettings
from vitgeom.backbones import check_device


@flow(name="extract", run_name="extract features")
def extract(study: Study) -> list[Outcome]:
    """Store the features of every cell and write its manifest.

    Args:
        study: Which cells, and how.

    Returns:
        One receipt per cell.

    Raises:
        PartsFailed: Some cells failed; the others are stored.
        InvalidInput: The study cannot be understood; nothing was computed.
    """
    wanted = study.resolve()
    results = Results(wanted.out)
    settings = settings_from(wanted.params.extract)
    if wanted.params.engine.is_here:
        check_device(wanted.params.extract.device)
    with engine_for(wanted.params.engine) as engine:
        outcomes = attempt_each(
            wanted.cells,
            lambda cell: extract_cell(
                cell.name,
                cell,
                store=wanted.store,
                settings=settings,
                engine=engine,
                results=results,
            ),
            on_failure=console.report_failure,
        )
    return require_all("extract", outcomes)


@task(name="extract features", run_name="extract {name}")
def extract_cell(
    name: str, cell: Cell, *, store: str, settings: ExtractSettings, engine: Engine, results: Results
) -> Receipt:
    """Store the features of one cell and write its manifest; ``name`` is what Prefect shows."""
    receipt = extract_dataset(
        cell.dataset_ref,
        cell.backbone_ref,
        store=store,
        settings=settings,
        engine=engine,
        emit=console.say,
        label=cell.name,
    )
    results.write_features(cell, store=store, sealed=receipt)
    how = "cached" if receipt.cached else f"{receipt.detail['computed_rows']:,} images computed"
    console.say(f"extract {name}: {receipt.rows:,} images, {how}")
    return receipt


def settings_from(params: Extract) -> ExtractSettings:
    """Return the settings of the task that belong to a profile's parameters."""
    return ExtractSettings(**params.model_dump())
