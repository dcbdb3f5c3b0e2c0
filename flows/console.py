"""Lines for the person who waits: the terminal, or the log of the flow run where there is one."""

from __future__ import annotations

import sys
import traceback

from flows.cell import Cell
from flows.outcome import one_line
from flows.steps import inside_flow_run
from vitgeom.errors import VitgeomError


def say(line: str) -> None:
    """Show one line of progress or result."""
    if inside_flow_run():
        from prefect.logging import get_run_logger

        get_run_logger().info(line)
    else:
        print(line, flush=True)


def note(line: str | None) -> None:
    """Show a line where there is one to show."""
    if line is not None:
        say(line)


def warn(line: str) -> None:
    """Show one line that asks for attention."""
    if inside_flow_run():
        from prefect.logging import get_run_logger

        get_run_logger().warning(line)
    else:
        print(f"warning: {line}", file=sys.stderr, flush=True)


def report_failure(cell: Cell, error: Exception) -> None:
    """Say that a cell failed while the others go on; an error that is not one of ours also shows where it came from."""
    if not isinstance(error, VitgeomError):
        warn("".join(traceback.format_exception(error)).rstrip())
    warn(f"{cell.name} failed and is left out: {one_line(error)}")
