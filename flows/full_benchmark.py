"""The whole study, in the order a reader expects: features, probes, fusion, report, and a record of it all.

Where the parameters ask for it: shifted test pictures, a sweep, a diagnosis of decoders and what is learnt of it. A cell that fails is reported and left
out of the steps that follow; the others go on, and the run ends with an error that names it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from flows import artifacts, console
from flows.diagnose import diagnose
from flows.engine_scope import engine_for
from flows.extract import extract
from flows.fuse import fuse
from flows.horizontal import horizontal
from flows.image_folder import settled
from flows.metric import metric
from flows.outcome import Outcome, PartsFailed, final, problems, require_all
from flows.probe import probe
from flows.record import record
from flows.report import report
from flows.run_file import RunFile
from flows.shift import shift
from flows.steps import Step, flow
from flows.study import Resolved, Study
from flows.summary import Summary
from flows.sweep import sweep


@flow(name="full-benchmark", run_name="full-benchmark")
def full_benchmark(
    profile: str | None = None,
    datasets: list[Any] | None = None,
    backbones: list[Any] | None = None,
    data: str | None = None,
    store: str | None = None,
    out: str | None = None,
    overrides: list[str] | None = None,
    params_file: str = "params.yaml",
) -> dict[str, Any]:
    """Run the study of one profile; what is stored already is not computed again.

    Args:
        profile: Name in the parameter file; its default profile when None.
        datasets: Only these, by name, or as ``{"name": ..., "options": {...}}``.
        backbones: Likewise.
        data: Folder with images of one's own, one folder per class, in place of ``datasets``.
        store: URI of the feature store.
        out: Folder for results; by default one for the whole profile, and others for parts of it and for other parameters.
        overrides: ``key=value`` below the profile.
        params_file: The parameter file.

    Returns:
        Small JSON: the report, the cells with their figures, where it is recorded.

    Raises:
        PartsFailed: Some cells failed; the others are in the report.
        InvalidInput: The study cannot be understood; nothing was computed.
    """
    study = Study.model_validate(
        {
            "profile": profile,
            "datasets": datasets,
            "backbones": backbones,
            "store": store,
            "out": out,
            "overrides": overrides or [],
            "params_file": params_file,
        }
    )
    study = settled(study, data)
    wanted = study.resolve()
    console.note(wanted.place_note)
    run_file = RunFile(wanted)
    with engine_for(wanted.params.engine):
        extracted = _attempt(extract, study)
        probed = _attempt(probe, study, left_out=list(problems(extracted)))
        outcomes = final(extracted, probed)
        fused = _attempt(fuse, study, left_out=list(problems(outcomes)))
        across = _attempt(horizontal, study, left_out=list(problems(extracted)))
        failed = problems([*outcomes, *fused])
        shifted = _asked(shift, study, wanted, datasets=wanted.params.shift.datasets, failed=failed)
        swept = _asked(
            sweep, study, wanted, datasets=wanted.params.sweep.datasets, failed=problems(extracted)
        )
        looked = _asked(diagnose, study, wanted, datasets=wanted.params.diagnose.datasets, failed=())
        learnt = _asked(metric, study, wanted, datasets=wanted.params.metric.datasets, failed=())
    summary = Summary(wanted.profile, tuple(outcomes), (*fused, *across), subject=wanted.subject)
    for line in summary.lines():
        console.say(line)
    page = report(
        study,
        failed=problems(outcomes),
        unfused=problems([*fused, *across]),
        undiagnosed=problems(looked),
        unlearnt=problems(learnt),
    )
    tracked = record(wanted, probed=outcomes, fused=[*fused, *across], page=page, tags=run_file.tags)
    artifacts.publish(summary, page=page.uri)
    steps = {
        "extract": extracted,
        "probe": probed,
        "fuse": fused,
        "horizontal": across,
        "shift": shifted,
        "diagnose": looked,
        "metric": learnt,
        "sweep": swept,
    }
    run_file.write(tracked=tracked, steps=steps)
    console.note(wanted.place_note)
    require_all("benchmark", final(outcomes, fused, across, shifted, looked, learnt, swept))
    return summary.to_json(page=page.uri)


def _attempt(sub_flow: Step[..., list[Outcome]], study: Study, **options: Any) -> list[Outcome]:
    """Run a sub-flow and keep what became of each cell, also when some failed."""
    try:
        return sub_flow(study, **options)
    except PartsFailed as failed:
        return list(failed.outcomes)


def _asked(
    sub_flow: Step[..., list[Outcome]],
    study: Study,
    wanted: Resolved,
    *,
    datasets: Sequence[str],
    failed: Iterable[str],
) -> list[Outcome]:
    """Run a sub-flow that is no part of a study by itself, on the datasets for which the parameters ask."""
    failures = set(failed)
    others = [
        cell.name for cell in wanted.cells if cell.dataset_ref.name not in datasets or cell.name in failures
    ]
    return _attempt(sub_flow, study, left_out=others) if len(others) < len(wanted.cells) else []
