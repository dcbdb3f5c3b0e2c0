"""Sub-flow: one page over all cells, from the files in the results folder.

The page depends on results, parameters and code alone, so the benchmark and ``dvc repro`` write the same one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from flows import console
from flows.cell import Cell
from flows.fusion_requests import fusion_request_for, horizontal_request_for
from flows.horizontal import several_backbones
from flows.probe import request_for
from flows.provenance import provenance
from flows.results import Results
from flows.steps import flow, task
from flows.study import Resolved, Study
from tasks import fit_fusion, fit_horizontal, fit_probes, render_report
from tasks.extraction_cost import extraction_cost
from tasks.metric_times import metric_times
from tasks.receipt import Receipt
from tasks.report_request import (
    CombinationSource,
    DatasetNote,
    DirectionSource,
    FusionSource,
    MetricSource,
    QuarantineNote,
    RenderRequest,
    ShiftSource,
    StageCost,
)
from vitgeom.errors import StoreError

TITLE = "What earlier layers know that the last layer gets wrong"


@flow(name="report", run_name="write report")
def report(
    study: Study,
    failed: Mapping[str, str] | None = None,
    unfused: Mapping[str, str] | None = None,
    undiagnosed: Mapping[str, str] | None = None,
    unlearnt: Mapping[str, str] | None = None,
    page: str | None = None,
) -> Receipt:
    """Write the page, its figures and its tables.

    Args:
        study: Which cells.
        failed: Name of a cell that did not finish -> the reason.
        unfused: Name of a cell, or of several backbones together, whose fusion failed -> the reason.
        undiagnosed: Name of a cell whose decoders could not be diagnosed -> the reason.
        unlearnt: Name of a cell whose metrics could not be learnt -> the reason.
        page: Folder of the page; None: that of the results.

    Returns:
        The receipt of the page.

    Raises:
        InvalidInput: A cell has no results yet.
    """
    wanted = study.resolve()
    request = request_for_page(wanted, failed or {}, unfused or {}, undiagnosed or {}, unlearnt or {})
    receipt = render(request if page is None else request.model_copy(update={"out": page}))
    console.say(f"report: {receipt.uri}")
    return receipt


@task(name="render report", run_name="render report")
def render(request: RenderRequest) -> Receipt:
    """Render one page."""
    return render_report.run(request)


def request_for_page(
    wanted: Resolved,
    failed: Mapping[str, str],
    unfused: Mapping[str, str],
    undiagnosed: Mapping[str, str],
    unlearnt: Mapping[str, str],
) -> RenderRequest:
    """Gather what the page shows."""
    results = Results(wanted.out)
    finished = [cell for cell in wanted.cells if cell.name not in failed]
    return RenderRequest(
        profile=wanted.profile,
        title=TITLE,
        subject=wanted.subject,
        combinations=tuple(_source(cell, results, failed.get(cell.name)) for cell in wanted.cells),
        datasets=tuple(_notes(finished, results)),
        fusion=(
            *(_fusion(cell, wanted, results, unfused.get(cell.name)) for cell in finished),
            *_across(finished, wanted, results, unfused),
        ),
        shift=tuple(source for cell in finished for source in _shift(cell, results, unfused)),
        directions=tuple(
            source
            for cell in wanted.cells
            for source in _directions(cell, results, undiagnosed.get(cell.name), extracted=cell in finished)
        ),
        metrics=tuple(
            source
            for cell in wanted.cells
            for source in _metrics(
                cell, results, unlearnt.get(cell.name), store=wanted.store, extracted=cell in finished
            )
        ),
        costs=tuple(cost for cell in finished for cost in _costs(cell, wanted, results)),
        provenance={**provenance(wanted.params), **_asked(wanted.cells, results)},
        out=str(wanted.out),
    )


def _source(cell: Cell, results: Results, problem: str | None) -> CombinationSource:
    if problem:
        return CombinationSource(dataset=cell.dataset_name, backbone=cell.backbone, failed=problem)
    results.read_recoverability(cell)  # refuses, with the way out, where there is none yet
    probes = results.probes(cell)
    return CombinationSource(
        dataset=cell.dataset_name,
        backbone=cell.backbone,
        manifest=str(results.features(cell).absolute()),
        probes=str(probes["probes.json"].absolute()),
        recoverability=str(probes["recoverability.json"].absolute()),
    )


def _fusion(cell: Cell, wanted: Resolved, results: Results, problem: str | None) -> FusionSource:
    named = partial(FusionSource, dataset=cell.dataset_name, backbone=cell.backbone)
    if problem:
        return named(failed=problem)
    results.read_fusion(cell)  # refuses, with the way out, where there is none yet
    files = results.fusion(cell)
    return named(
        comparison=str(files["comparison.json"].absolute()),
        predictions=str(files["predictions.safetensors"].absolute()),
        seconds_per_image=_times(lambda: fit_fusion.stored(fusion_request_for(cell, wanted, results))),
    )


def _shift(cell: Cell, results: Results, unfused: Mapping[str, str]) -> Iterator[ShiftSource]:
    """Yield what a cell's classifiers do under shift, if they were asked; figures of earlier classifiers are not shown."""
    found = None if cell.name in unfused else results.read_shift(cell)
    if found is None:
        return
    named = partial(ShiftSource, dataset=cell.dataset_name, backbone=cell.backbone)
    if found.get("comparison") == results.fusion_digest(cell):
        yield named(evaluation=str(results.shift(cell).absolute()))
    else:
        reason = "its figures under shift are of earlier classifiers. Run vitgeom shift again, then vitgeom stage report"
        console.warn(f"{cell.name}: {reason}")
        yield named(failed=f"{reason[0].upper()}{reason[1:]}.")


def _directions(
    cell: Cell, results: Results, problem: str | None, *, extracted: bool
) -> Iterator[DirectionSource]:
    """Yield to what a cell's decoders react, if they were diagnosed."""
    named = partial(DirectionSource, dataset=cell.dataset_name, backbone=cell.backbone)
    found = None if problem else results.read_directions(cell)
    reason = problem or _outdated(found, cell, results, what="directions", stage="diagnose", asked=extracted)
    if reason:
        yield named(failed=reason)
    elif found is not None:
        yield named(figures=str(results.directions(cell).absolute()))


def _metrics(
    cell: Cell, results: Results, problem: str | None, *, store: str, extracted: bool
) -> Iterator[MetricSource]:
    """Yield what models learnt of that, if they were trained."""
    named = partial(MetricSource, dataset=cell.dataset_name, backbone=cell.backbone)
    found = None if problem else results.read_metric(cell)
    reason = problem or _outdated(
        found, cell, results, what="learnt metrics", stage="metric", asked=extracted
    )
    if reason:
        yield named(failed=reason)
    elif found is not None:
        yield named(
            figures=str(results.metric(cell).absolute()), seconds_per_image=_metric_times(store, found)
        )


def _outdated(
    found: Mapping[str, Any] | None, cell: Cell, results: Results, *, what: str, stage: str, asked: bool
) -> str | None:
    """Say why figures cannot be shown that are of other images or weights than the features'; where there are no features, nobody can tell."""
    if found is None or not asked or _of_these_features(found, cell, results):
        return None
    reason = f"its {what} are of other images or weights. Run vitgeom stage {stage} again, then vitgeom stage report"
    console.warn(f"{cell.name}: {reason}")
    return f"{reason[0].upper()}{reason[1:]}."


def _asked(cells: Sequence[Cell], results: Results) -> dict[str, Any]:
    """Return what the steps of their own were asked for when their figures were made, by step and cell."""
    readers = {"diagnose": results.read_directions, "metric": results.read_metric}
    found = {
        step: {cell.name: told["asked"] for cell in cells if "asked" in (told := read(cell) or {})}
        for step, read in readers.items()
    }
    return {step: asked for step, asked in found.items() if asked}


def _of_these_features(found: Mapping[str, Any], cell: Cell, results: Results) -> bool:
    description = results.read_features(cell)[0].description
    return found.get("of") == {key: description[key] for key in ("dataset", "weights")}


def _across(
    cells: Sequence[Cell], wanted: Resolved, results: Results, unfused: Mapping[str, str]
) -> Iterator[FusionSource]:
    """Yield the comparison over several backbones of each dataset that has them."""
    for group, members in several_backbones(cells).items():
        named = partial(FusionSource, dataset=group.dataset_name, backbone=group.backbone, horizontal=True)
        if group.name in unfused:
            yield named(failed=unfused[group.name])
        elif results.read_horizontal(group.dataset) is not None:
            yield named(
                comparison=str(results.horizontal(group.dataset)["comparison.json"].absolute()),
                predictions=str(results.horizontal(group.dataset)["predictions.safetensors"].absolute()),
                seconds_per_image=_times(
                    lambda members=members: fit_horizontal.stored(  # type: ignore[misc]
                        horizontal_request_for(members, wanted, results)
                    )
                ),
            )


def _times(stored: Callable[[], Receipt | None]) -> dict[str, float]:
    """Return what was measured when the methods were fitted; results may have come here without the store that knows."""
    try:
        fused = stored()
    except StoreError:
        return {}
    return {} if fused is None else dict(fused.detail["seconds_per_image"])


def _metric_times(store: str, found: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """Return what was measured when models were trained; likewise."""
    try:
        return metric_times(store, found)
    except StoreError:
        return {}


def _notes(cells: Sequence[Cell], results: Results) -> Iterator[DatasetNote]:
    seen: set[str] = set()
    for cell in cells:
        if cell.dataset not in seen:
            seen.add(cell.dataset)
            _, about = results.read_features(cell)
            quarantine = tuple(
                QuarantineNote(path=path, reason=reason) for path, reason in about["quarantine"]
            )
            yield DatasetNote(name=cell.dataset_name, source=about["source"], quarantine=quarantine)


def _costs(cell: Cell, wanted: Resolved, results: Results) -> Iterator[StageCost]:
    """Yield what was noted when the cell was computed; results may have come here without the store that knows."""
    manifest, _ = results.read_features(cell)
    cost = partial(StageCost, dataset=cell.dataset_name, backbone=cell.backbone)
    try:
        extraction = extraction_cost(wanted.store, manifest.address)
        fitted = fit_probes.stored(request_for(cell, wanted, results))
        fused = fit_fusion.stored(fusion_request_for(cell, wanted, results))
    except StoreError as error:
        console.warn(f"{cell.name}: the report cannot say what it took to compute: {error}")
        return
    yield cost(
        stage="extract",
        seconds=extraction.seconds,
        rows=extraction.rows,
        bytes=extraction.num_bytes,
        peak_bytes=extraction.peak_bytes,
    )
    if fitted is not None:
        yield cost(
            stage="probe",
            seconds=fitted.seconds,
            rows=fitted.rows,
            bytes=sum(path.stat().st_size for path in results.probes(cell).values()),
            peak_bytes=fitted.peak_bytes,
        )
    if fused is not None:
        yield cost(
            stage="fuse",
            seconds=fused.seconds,
            rows=fused.rows,
            bytes=sum(path.stat().st_size for path in results.fusion(cell).values() if path.is_file()),
            peak_bytes=fused.peak_bytes,
        )
