"""Who runs a flow: Prefect where an API is configured, or else plain function calls.

A flow without a configured API would make Prefect start a temporary server, which takes longer than a study whose results are there
already. The same functions run either way.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, ParamSpec, TypeVar

from flows.console import say
from flows.steps import Step, inside_flow_run
from vitgeom.errors import UnknownName

Kind = Literal["auto", "prefect", "plain"]
KINDS: tuple[Kind, ...] = ("auto", "prefect", "plain")
API = "PREFECT_API_URL"
SETTINGS_FILES = ("prefect.toml", "pyproject.toml", ".env")
SPEAKS_OF_AN_API = re.compile(
    r"PREFECT_API_URL|^\s*\[(tool\.prefect\.)?api\]|^\s*api\.url", re.IGNORECASE | re.MULTILINE
)
P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True)
class Orchestrator:
    """Who runs the flow, and why."""

    name: Literal["prefect", "plain"]
    reason: str


def choose(kind: Kind = "auto") -> Orchestrator:
    """Decide who runs a flow.

    Args:
        kind: ``"prefect"`` and ``"plain"`` decide it; ``"auto"`` takes Prefect inside a flow run and where an API is configured:
            by ``PREFECT_API_URL`` or in one of Prefect's own settings files.

    Raises:
        UnknownName: No such kind.
    """
    if kind not in KINDS:
        raise UnknownName("orchestrator", kind, KINDS)
    if kind != "auto":
        return Orchestrator(kind, "asked for")
    if inside_flow_run():
        return Orchestrator("prefect", "inside a flow run")
    api = os.environ.get(API) or _api_in_files()
    return (
        Orchestrator("prefect", f"API at {api}")
        if api
        else Orchestrator("plain", "no Prefect API is configured")
    )


def _api_in_files() -> str | None:
    """Ask Prefect for its API, but only if one of its settings files speaks of one: Prefect takes seconds to import."""
    home = Path(os.environ.get("PREFECT_HOME") or Path.home() / ".prefect")
    profiles = Path(os.environ.get("PREFECT_PROFILES_PATH") or home / "profiles.toml")
    if not any(_speaks_of_an_api(file) for file in (profiles, *map(Path, SETTINGS_FILES))):
        return None
    from prefect.settings import PREFECT_API_URL

    return PREFECT_API_URL.value()


def _speaks_of_an_api(file: Path) -> bool:
    try:
        return bool(SPEAKS_OF_AN_API.search(file.read_text(encoding="utf-8", errors="replace")))
    except OSError:
        return False


def start(flow: Step[P, R], kind: Kind, /, *args: P.args, **kwargs: P.kwargs) -> R:
    """Run a flow from outside, and say in one line who runs it.

    Args:
        flow: The flow.
        kind: See ``choose``.
        *args: Its arguments.
        **kwargs: Its keyword arguments.
    """
    chosen = choose(kind)
    say(f"orchestrator: {chosen.name} ({chosen.reason})")
    run = flow.prefect if chosen.name == "prefect" else flow.fn
    result: R = run(*args, **kwargs)
    return result
