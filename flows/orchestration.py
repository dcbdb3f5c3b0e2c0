"""Who runs a flow: Prefect where an API is configured, or else plain function calls.

A flow without a configured API would make Prefect start a temporary server, which takes longer than a study whose results are there
already. The same functions run either way: ``flow(...)`` under Prefect, ``flow.fn(...)`` without.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from prefect.settings import PREFECT_API_URL

from flows.console import inside_flow_run, say
from vitgeom.errors import UnknownName

Kind = Literal["auto", "prefect", "plain"]
KINDS: tuple[Kind, ...] = ("auto", "prefect", "plain")


@dataclass(frozen=True)
class Orchestrator:
    """Who runs the flow, and why."""

    name: Literal["prefect", "plain"]
    reason: str


def choose(kind: Kind = "auto") -> Orchestrator:
    """Decide who runs a flow.

    Args:
        kind: ``"prefect"`` and ``"plain"`` decide it; ``"auto"`` takes Prefect inside a flow run and where an API is configured.

    Raises:
        UnknownName: No such kind.
    """
    if kind not in KINDS:
        raise UnknownName("orchestrator", kind, KINDS)
    if kind != "auto":
        return Orchestrator(kind, "asked for")
    if inside_flow_run():
        return Orchestrator("prefect", "inside a flow run")
    api = PREFECT_API_URL.value()
    if api:
        return Orchestrator("prefect", f"API at {api}")
    return Orchestrator("plain", "no Prefect API is configured")


def start(flow: Any, *args: Any, kind: Kind = "auto", **kwargs: Any) -> Any:
    """Run a flow from outside, and say in one line who runs it.

    Args:
        flow: A Prefect flow.
        *args: Its arguments.
        kind: See ``choose``.
        **kwargs: Its keyword arguments.
    """
    chosen = choose(kind)
    say(f"orchestrator: {chosen.name} ({chosen.reason})")
    return flow(*args, **kwargs) if chosen.name == "prefect" else flow.fn(*args, **kwargs)


def call(step: Any, *args: Any, **kwargs: Any) -> Any:
    """Run a flow or task from within a flow, the way the outer one runs."""
    return step(*args, **kwargs) if inside_flow_run() else step.fn(*args, **kwargs)
