"""Sub-flow: one classifier on the last layers of all backbones of a dataset, for every dataset of the study.

Reads the manifests that the extract step wrote. A dataset with fewer than two backbones is skipped, and its result file says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from flows import console
from flows.cell import Cell, together
from flows.engine_scope import engine_for
from flows.fusion_requests import horizontal_request_for
from flows.outcome import Outcome, attempt_each, require_all
from flows.results import Results
from flows.steps import flow, task
from flows.study import Resolved, Study
from tasks import fit_horizontal
from tasks.engine import Engine
from tasks.fusion_request import HorizontalRequest
from tasks.receipt import Receipt


@flow(name="horizontal", run_name="fuse backbones")
def horizontal(study: Study, left_out: Sequence[str] = ()) -> list[Outcome]:
    """Fit horizontal fusion for every dataset with several backbones and copy the comparisons into the results folder.

    Args:
        study: Which cells, and how.
        left_out: Names of cells whose features failed; the other backbones of their dataset are fused without them.

    Returns:
        One receipt per dataset that has at least two backbones.

    Raises:
        PartsFailed: Some datasets failed; the others are stored.
        InvalidInput: The study cannot be understood; nothing was computed.
    """
    wanted = study.resolve()
    results = Results(wanted.out)
    groups = several_backbones(wanted.cells, left_out=left_out)
    for dataset in dict.fromkeys(cell.dataset for cell in wanted.cells):
        if dataset not in {group.dataset for group in groups}:
            results.skip_horizontal(dataset)
    with engine_for(wanted.params.engine) as engine:
        outcomes = attempt_each(
            groups,
            lambda group: fuse_group(
                group.name, groups[group], group, wanted=wanted, engine=engine, results=results
            ),
            on_failure=console.report_failure,
        )
    return require_all("horizontal", outcomes)


def several_backbones(
    cells: Sequence[Cell], *, left_out: Sequence[str] = ()
) -> Mapping[Cell, tuple[Cell, ...]]:
    """Return the cells of every dataset that has at least two, by what stands for them together.

    Args:
        cells: Of the study.
        left_out: Names of cells that do not count.
    """
    counted = [cell for cell in cells if cell.name not in left_out]
    datasets = dict.fromkeys(cell.dataset for cell in counted)
    groups = [tuple(cell for cell in counted if cell.dataset == dataset) for dataset in datasets]
    return {together(group): group for group in groups if len(group) > 1}


@task(name="horizontal", run_name="fuse {name}")
def fuse_group(
    name: str,
    cells: Sequence[Cell],
    group: Cell,
    *,
    wanted: Resolved,
    engine: Engine,
    results: Results,
) -> Receipt:
    """Take a dataset's comparison from the store, or else make it, and copy its table; ``name`` is what Prefect shows."""
    request = horizontal_request_for(cells, wanted, results)
    receipt = fit_horizontal.stored(request)
    receipt = receipt or engine.map(HorizontalRequest.task, [request], label=f"fuse {name}")[0]
    console.say(f"fuse {name}: {'cached' if receipt.cached else f'fitted in {receipt.seconds:.1f} s'}")
    results.write_horizontal(group.dataset, fused=receipt)
    return receipt
