"""``vitgeom benchmark``: the whole study."""

from __future__ import annotations

import argparse

from flows.commands.study_arguments import add_data, add_orchestrator, add_study, data_folder, study_fields


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    command = commands.add_parser(
        "benchmark",
        help="extract features, fit probes, write the report; what is stored already is not computed again",
        description="Extract layer features, fit one probe per layer, and report what earlier layers recover of the last layer's errors.",
    )
    add_study(command)
    add_data(command)
    add_orchestrator(command)
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run the study."""
    from flows.full_benchmark import full_benchmark
    from flows.orchestration import start

    data = data_folder(arguments)
    start(full_benchmark, arguments.orchestrator, **study_fields(arguments), data=data)
    return 0
