"""Sub-flows share the engine of the flow around them, and nothing stays open afterwards."""

from __future__ import annotations

import pytest

from flows import console, engine_scope
from flows.engine_scope import engine_for
from flows.params import Engine

SERIAL = Engine(kind="serial", address="local", num_cpus=None, max_in_flight=2, retries=1)


def test_an_inner_scope_takes_the_engine_of_the_outer_one() -> None:
    with engine_for(SERIAL) as outer, engine_for(SERIAL) as inner:
        assert inner is outer


def test_each_outermost_scope_opens_its_own() -> None:
    with engine_for(SERIAL) as first:
        pass
    with engine_for(SERIAL) as second:
        assert second is not first


def test_the_scope_is_left_also_after_an_error() -> None:
    with pytest.raises(RuntimeError, match="in the middle"), engine_for(SERIAL):
        raise RuntimeError("in the middle")
    assert engine_scope._open.get() is None


def test_the_parameters_of_ray_reach_the_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    from contextlib import contextmanager

    seen: dict[str, object] = {}

    @contextmanager
    def open_engine(kind: str, **options: object):
        seen.update(kind=kind, **options)
        yield "engine"

    monkeypatch.setattr(engine_scope, "open_engine", open_engine)
    with engine_for(Engine(kind="ray", address="127.0.0.1:6379", num_cpus=None, max_in_flight=8, retries=3)):
        pass

    assert seen == {
        "kind": "ray",
        "address": "127.0.0.1:6379",
        "num_cpus": None,
        "max_in_flight": 8,
        "retries": 3,
        "say": console.say,
    }
