"""``vitgeom shift``: fitted classifiers on damaged test pictures and by sub-population, after a benchmark."""

from __future__ import annotations

import argparse

from flows.commands import stage
from flows.commands.study_arguments import add_orchestrator, add_study


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    command = commands.add_parser(
        "shift",
        help="ask fitted classifiers about damaged test pictures and sub-populations, after a benchmark",
        description="Evaluate what a benchmark fitted under distribution shift; nothing is fitted. `vitgeom stage report` then shows it.",
    )
    add_study(command)
    add_orchestrator(command)
    command.set_defaults(run=stage.run, step="shift")
