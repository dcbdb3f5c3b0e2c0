"""``vitgeom plan``: what a benchmark would compute and what it would find stored. Nothing is computed or written."""

from __future__ import annotations

import argparse

from flows.commands.study_arguments import add_study, study


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    command = commands.add_parser(
        "plan", help="say what a benchmark would compute and what is stored already; computes nothing"
    )
    add_study(command)
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print one line per cell, and one per dataset with several backbones."""
    from flows.forecast import forecast, horizontal_line
    from flows.horizontal import several_backbones
    from flows.subset import apart

    wanted = apart(study(arguments)).resolve()
    print(f"profile {wanted.profile}, store {wanted.store}, results in {wanted.out}")
    told = {}
    for cell in wanted.cells:
        told[cell] = forecast(cell, wanted)
        print(told[cell].line())
    for members in several_backbones(wanted.cells).values():
        print(horizontal_line(members, [told[cell] for cell in members], wanted))
    return 0
