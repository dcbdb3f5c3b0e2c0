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
from flows.together import CellWork
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
    work = horizontal_work(groups, wanted, results)
    with engine_for(wanted.params.engine) as engine:
        missing = work.missing(list(groups))
        fitted = fuse_groups(len(missing), missing, work=work, engine=engine) if len(missing) > 1 else {}
        outcomes = attempt_each(
            groups,
            lambda group: fuse_group(
                group.name, group, work=work, engine=engine, results=results, fitted=fitted
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


@task(name="horizontal all", run_name="fuse backbones of {count} datasets")
def fuse_groups(
    count: int, missing: Mapping[str, HorizontalRequest], *, work: CellWork[HorizontalRequest], engine: Engine
) -> dict[str, Receipt]:
    """Fit what is missing, all at once; ``count`` is what Prefect shows."""
    return work.map_together(missing, engine=engine)


@task(name="horizontal", run_name="fuse {name}")
def fuse_group(
    name: str,
    group: Cell,
    *,
    work: CellWork[HorizontalRequest],
    engine: Engine,
    results: Results,
    fitted: Mapping[str, Receipt],
) -> Receipt:
    """Take a dataset's comparison from this run or the store, or else make it, and copy its table; ``name`` is what Prefect shows."""
    receipt = work.receipt(group, engine=engine, fitted=fitted)
    results.write_horizontal(group.dataset, fused=receipt)
    return receipt


def horizontal_work(
    groups: Mapping[Cell, Sequence[Cell]], wanted: Resolved, results: Results
) -> CellWork[HorizontalRequest]:
    """Return how the backbones of a dataset are fused.

    Args:
        groups: Cells of each dataset, by what stands for them together.
        wanted: The study.
        results: Has their manifests.
    """
    return CellWork(
        verb="fuse",
        what="classifiers on several backbones",
        request=lambda group: horizontal_request_for(groups[group], wanted, results),
        stored=fit_horizontal.stored,
        rows=lambda group: results.read_features(groups[group][0])[0].num_rows,
    )
