"""The command ``vitgeom``: arguments, errors without tracebacks, and exit codes.

Exit codes: 0 all done; 1 a part failed (the others are done and kept); 2 wrong usage or input, nothing was computed; 130 interrupted.
"""

from __future__ import annotations

import argparse
import io
import shlex
import sys
import traceback
from collections.abc import Sequence

from flows.commands import benchmark, check, listing, plan, shift, stage, ui
from tasks.termination import sigterm_raises
from vitgeom import __version__
from vitgeom.errors import InvalidInput, VitgeomError

DONE, FAILED, WRONG_INPUT, INTERRUPTED = 0, 1, 2, 130
SIGTERM_EXIT = 143


def parser() -> argparse.ArgumentParser:
    """Return the parser of all commands; building it imports nothing heavy."""
    top = argparse.ArgumentParser(
        prog="vitgeom",
        description="Which layers of a frozen Vision Transformer know what its last layer gets wrong.",
        epilog=__doc__.partition("\n\n")[2],
        allow_abbrev=False,
    )
    top.add_argument("--version", action="version", version=f"vitgeom {__version__}")
    commands = top.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for module in (benchmark, shift, plan, stage, check, ui, listing):
        module.add(commands)
    for command in commands.choices.values():
        command.allow_abbrev = False
        command.add_argument("--debug", action="store_true", help="show the traceback of an error")
    return top


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    given = list(sys.argv[1:] if argv is None else argv)
    arguments = parser().parse_args(given)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that knows no "×" still shows the rest
    try:
        with sigterm_raises():
            return int(arguments.run(arguments))
    except VitgeomError as error:
        if arguments.debug:
            traceback.print_exc()
        print(f"error: {error}", file=sys.stderr)
        return WRONG_INPUT if isinstance(error, InvalidInput) else FAILED
    except KeyboardInterrupt:
        return _interrupted(given)
    except SystemExit as end:
        if end.code != SIGTERM_EXIT:
            raise
        return _interrupted(given)


def _interrupted(given: Sequence[str]) -> int:
    again = shlex.join(["vitgeom", *given])
    print(
        f"\ninterrupted. What is finished is kept; the same command goes on from there: {again}",
        file=sys.stderr,
    )
    return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
