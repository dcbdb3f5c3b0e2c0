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
        description="Run one step of the study; DVC calls this.",
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
    place = wanted.resolve().place_note
    console.note(place)
    start(_flow(arguments.step), arguments.orchestrator, wanted)
    console.note(place)
    return 0


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
    if step == "metric":
        from flows.metric import metric

        return metric
    from flows.report import report

    return report
