"""Lines for the person who waits: the terminal, or the log of the flow run where there is one."""

from __future__ import annotations

import sys
import traceback

from prefect.context import FlowRunContext
from prefect.logging import get_run_logger

from flows.cell import Cell
from flows.outcome import one_line


def inside_flow_run() -> bool:
    """Whether this code runs under Prefect's control."""
    return FlowRunContext.get() is not None


def say(line: str) -> None:
    """Show one line of progress or result."""
    if inside_flow_run():
        get_run_logger().info(line)
    else:
        print(line, flush=True)


def warn(line: str) -> None:
    """Show one line that asks for attention."""
    if inside_flow_run():
        get_run_logger().warning(line)
    else:
        print(f"warning: {line}", file=sys.stderr, flush=True)


def report_failure(cell: Cell, error: Exception) -> None:
    """Say that a cell failed while the others go on; an error that is not one of ours also shows where it came from."""
    from vitgeom.errors import VitgeomError

    if not isinstance(error, VitgeomError):
        warn("".join(traceback.format_exception(error)).rstrip())
    warn(f"{cell.name} failed and is left out: {one_line(error)}")
