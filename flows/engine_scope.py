"""One engine per run: a flow that is called by another flow works on the engine that is open already."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from flows import console
from flows.params import Engine as EngineParams
from tasks.engine import Engine, open_engine

_open: ContextVar[Engine | None] = ContextVar("vitgeom_engine", default=None)


@contextmanager
def engine_for(params: EngineParams) -> Iterator[Engine]:
    """Give the engine of the surrounding flow, or open one and close it at the end.

    Args:
        params: Used where none is open.
    """
    surrounding = _open.get()
    if surrounding is not None:
        yield surrounding
        return
    options = {} if params.kind == "serial" else params.model_dump(exclude={"kind", "retries"})
    if params.kind == "ray":
        options["say"] = console.say
    with open_engine(params.kind, retries=params.retries, **options) as engine:
        token = _open.set(engine)
        try:
            yield engine
        finally:
            _open.reset(token)
