"""``vitgeom stage``: one step of the study, as a DVC stage or alone."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from flows.commands.study_arguments import add_data, add_orchestrator, add_study, data_folder, study

if TYPE_CHECKING:
    from flows.steps import Step
    from flows.study import Study


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    command = commands.add_parser(
        "stage",
        help="one step of the study: extract, probe, fuse, horizontal, shift, sweep, diagnose, metric or report",
        description=(
            "Run one step of the study; DVC calls this. A step works in the profile's own results folder, also for a part of its datasets and backbones, and "
            "replaces what it left there before; --out keeps it apart. Only the page of a part has a folder of its own. "
            "Parameters of a step are those of its block in the parameter file (extract, probe, fusion, shift, sweep, diagnose, metric), e.g. --set diagnose.images=4."
        ),
    )
    command.add_argument(
        "step",
        choices=("extract", "probe", "fuse", "horizontal", "shift", "sweep", "diagnose", "metric", "report"),
    )
    add_study(command)
    add_data(command)
    add_orchestrator(command)
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run the step in the profile's results folder, or in that of the images that ``--data`` names."""
    from flows.image_folder import study_of_folder

    wanted, folder = study(arguments), data_folder(arguments)
    wanted.resolve()  # a slip in the parameters is told before images are read
    return run_step(arguments, wanted if folder is None else study_of_folder(wanted, folder))


def run_step(arguments: argparse.Namespace, wanted: Study) -> int:
    """Run the step on a study whose images are known, and end with the process that started it.

    Args:
        arguments: With the step and who runs it.
        wanted: The study.
    """
    from flows import console
    from flows.orchestration import start
    from flows.parent_watch import end_with_parent

    end_with_parent()
    resolved = wanted.resolve()
    place = resolved.place_note or f"results are in {resolved.out}"
    console.say(place)
    if arguments.step == "report":
        _start_report(arguments, wanted)
    else:
        start(_flow(arguments.step), arguments.orchestrator, wanted)
    console.say(place)
    return 0


def _start_report(arguments: argparse.Namespace, wanted: Study) -> None:
    """Write the page; that of a part of a profile does not take the place of the whole one."""
    from flows.orchestration import start
    from flows.report import report
    from flows.subset import apart

    own = apart(wanted).out
    start(report, arguments.orchestrator, wanted, page=None if own == wanted.out else own)


def _flow(step: str) -> Step[..., Any]:
    if step == "extract":
        from flows.extract import extract

        return extract
    if step == "probe":
        from flows.probe import probe

        return probe
    if step == "fuse":
        from flows.fuse import fuse

        return fuse
    if step == "horizontal":
        from flows.horizontal import horizontal

        return horizontal
    if step == "sweep":
        from flows.sweep import sweep

        return sweep
    if step == "shift":
        from flows.shift import shift

        return shift
    if step == "diagnose":
        from flows.diagnose import diagnose

        return diagnose
    from flows.metric import metric

    return metric
