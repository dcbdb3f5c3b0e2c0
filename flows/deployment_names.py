"""Plug-in of Prefect's: ``prefect deployment run full-benchmark`` means ``full-benchmark/full-benchmark``.

Prefect names a deployment FLOW/DEPLOYMENT. All deployments here are called like their flow, so one word says it all. The hook is found
through the entry point group ``prefect.plugins``, is switched on by ``prefect.toml``, and does nothing outside ``prefect deployment``. It
wraps a method of a module that Prefect does not promise to keep: when that has changed, the long form still works.
"""

from __future__ import annotations

import functools
import importlib
import sys
from collections.abc import Awaitable, Callable
from typing import Any

from pluggy import HookimplMarker

MODULE, CLIENT, METHOD = (
    "prefect.client.orchestration._deployments.client",
    "DeploymentAsyncClient",
    "read_deployment_by_name",
)

hook = HookimplMarker("prefect-experimental")


@hook
def setup_environment(*, ctx: Any) -> None:
    """Let this process understand short deployment names, if it is the command that takes them.

    Args:
        ctx: Prefect's context; not used.
    """
    if "deployment" in sys.argv[1:3]:
        accept_short_names()


def accept_short_names() -> bool:
    """Make the client complete names without a slash; return False when Prefect has no such client any more."""
    try:
        client = getattr(importlib.import_module(MODULE), CLIENT)
        original = getattr(client, METHOD)
    except (ImportError, AttributeError):
        return False
    if not getattr(original, "completes_names", False):
        setattr(client, METHOD, _completing(original))
    return True


def _completing(original: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
    @functools.wraps(original)
    async def read_deployment_by_name(self: Any, name: str, *args: Any, **kwargs: Any) -> Any:
        return await original(self, complete(name), *args, **kwargs)

    read_deployment_by_name.completes_names = True  # type: ignore[attr-defined]
    return read_deployment_by_name


def complete(name: str) -> str:
    """Return FLOW/DEPLOYMENT for a name of one word, and any other name as it is."""
    return name if "/" in name or not name else f"{name}/{name}"
