"""``vitgeom shift``: fitted classifiers on damaged test pictures and by sub-population, after a benchmark of the same arguments."""

from __future__ import annotations

import argparse

from flows.commands import stage
from flows.commands.study_arguments import add_data, add_orchestrator, add_study, data_folder, study


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    command = commands.add_parser(
        "shift",
        help="ask fitted classifiers about damaged test pictures and sub-populations, after a benchmark",
        description="Evaluate what a benchmark of the same arguments fitted under distribution shift; nothing is fitted. "
        "`vitgeom stage report` then shows it.",
    )
    add_study(command)
    add_data(command)
    add_orchestrator(command)
    command.set_defaults(run=run, step="shift")


def run(arguments: argparse.Namespace) -> int:
    """Evaluate where the benchmark of the same arguments left its results, and say how to see it."""
    from flows.console import say
    from flows.image_folder import settled

    wanted = settled(study(arguments), data_folder(arguments))
    code = stage.run_step(arguments, wanted)
    say(
        f"to see it: vitgeom stage report, with the same arguments{f' and --out {wanted.out}' if wanted.out else ''}"
    )
    return code
