"""``vitgeom plan``: what a benchmark would compute and what it would find stored. Nothing is computed or written."""

from __future__ import annotations

import argparse

from flows.commands.study_arguments import add_data, add_study, data_folder, study


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    command = commands.add_parser(
        "plan",
        help="say what a benchmark would compute and what is stored already; computes nothing",
        description="Say what a benchmark of the same study would compute and what is stored already. Nothing is computed or "
        "written; images of your own that were not indexed before are read once, to see which can be used.",
    )
    add_study(command)
    add_data(command)
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print one line per cell, and one per dataset with several backbones."""
    from flows import console
    from flows.forecast import forecast, horizontal_line
    from flows.horizontal import several_backbones
    from flows.image_folder import settled
    from tasks import index_dataset

    wanted = settled(study(arguments), data_folder(arguments), index=index_dataset.look).resolve()
    print(f"profile {wanted.profile}, store {wanted.store}, results in {wanted.out}")
    console.note(wanted.place_note)
    told = {}
    for cell in wanted.cells:
        told[cell] = forecast(cell, wanted)
        print(told[cell].line())
    for members in several_backbones(wanted.cells).values():
        print(horizontal_line(members, [told[cell] for cell in members], wanted))
    return 0
