"""Flows and tasks: under Prefect where Prefect is in charge, plain functions everywhere else.

``@flow`` and ``@task`` stand for Prefect's decorators of these names. Prefect itself is imported when the first flow runs under it, because
importing it takes longer than a study that is stored already; what Prefect sees as flows stands in ``flows.deployments``.

Prefect caches nothing and retries nothing here: the store is the ledger of what is done, and the engine tries single ranges again.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any, Generic, Literal, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def inside_flow_run() -> bool:
    """Whether this code runs under Prefect's control; Prefect is not imported to find out."""
    if "prefect.context" not in sys.modules:
        return False
    from prefect.context import FlowRunContext

    return FlowRunContext.get() is not None


class Step(Generic[P, R]):
    """A function that becomes a flow run or task run of Prefect's when it is called from a flow run.

    Attributes:
        fn: The plain function.
    """

    def __init__(self, fn: Callable[P, R], *, kind: Literal["flow", "task"], options: dict[str, Any]) -> None:
        """Remember how Prefect is to see the function."""
        self.fn = fn
        self._kind, self._options = kind, options
        functools.update_wrapper(self, fn)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run the way the surrounding code runs."""
        run: Callable[P, R] = self.prefect if inside_flow_run() else self.fn
        return run(*args, **kwargs)

    @functools.cached_property
    def prefect(self) -> Any:
        """Prefect's own flow or task of this function."""
        import prefect
        from prefect.cache_policies import NO_CACHE

        if self._kind == "flow":
            return prefect.flow(persist_result=False, **self._options)(self.fn)
        return prefect.task(cache_policy=NO_CACHE, persist_result=False, **self._options)(self.fn)


def flow(*, name: str, run_name: str) -> Callable[[Callable[P, R]], Step[P, R]]:
    """Declare a flow.

    Args:
        name: Its name in Prefect.
        run_name: The name of each of its runs.
    """
    return lambda fn: Step(fn, kind="flow", options={"name": name, "flow_run_name": run_name})


def task(*, name: str, run_name: str) -> Callable[[Callable[P, R]], Step[P, R]]:
    """Declare a task.

    Args:
        name: Its name in Prefect.
        run_name: The name of each of its runs; ``{argument}`` is replaced by that argument.
    """
    return lambda fn: Step(fn, kind="task", options={"name": name, "task_run_name": run_name})
