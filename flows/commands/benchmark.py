"""``vitgeom benchmark``: the whole study."""

from __future__ import annotations

import argparse

from flows.commands.study_arguments import add_orchestrator, add_study, study_fields
from vitgeom.errors import InvalidInput


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    command = commands.add_parser(
        "benchmark",
        help="extract features, fit probes, write the report; what is stored already is not computed again",
        description="Extract layer features, fit one probe per layer, and report what earlier layers recover of the last layer's errors.",
    )
    add_study(command)
    command.add_argument(
        "--data",
        metavar="FOLDER",
        help="your own images, one folder per class, in place of the profile's datasets",
    )
    add_orchestrator(command)
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run the study."""
    from flows.full_benchmark import full_benchmark
    from flows.orchestration import start

    if arguments.data == "":
        raise InvalidInput("--data is empty: give the folder with the images, or leave it out.")
    if arguments.data and arguments.dataset:
        raise InvalidInput("--data takes the place of the datasets: give either --data or --dataset.")
    start(full_benchmark, arguments.orchestrator, **study_fields(arguments), data=arguments.data)
    return 0
