"""A deployment's short name is completed, every other name is left alone, and a changed Prefect does no harm."""

from __future__ import annotations

import asyncio
import sys
import types

import pytest

from flows import deployment_names
from flows.deployment_names import accept_short_names, complete, setup_environment


@pytest.mark.parametrize(
    ("given", "meant"),
    [("full-benchmark", "full-benchmark/full-benchmark"), ("a/b", "a/b"), ("a/b/c", "a/b/c"), ("", "")],
)
def test_only_a_single_word_is_completed(given: str, meant: str) -> None:
    assert complete(given) == meant


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> type:
    """A stand-in for Prefect's client in a module of the name that the plug-in looks for."""

    class DeploymentAsyncClient:
        async def read_deployment_by_name(self, name: str) -> str:
            return f"read {name}"

    module = types.ModuleType("stand_in_client")
    module.DeploymentAsyncClient = DeploymentAsyncClient  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "stand_in_client", module)
    monkeypatch.setattr(deployment_names, "MODULE", "stand_in_client")
    return DeploymentAsyncClient


def test_the_client_completes_names_once_however_often_it_is_asked(client: type) -> None:
    assert accept_short_names()
    assert accept_short_names()

    assert asyncio.run(client().read_deployment_by_name("probe")) == "read probe/probe"
    assert asyncio.run(client().read_deployment_by_name("x/y")) == "read x/y"


def test_a_client_without_the_method_is_left_alone(client: type) -> None:
    del client.read_deployment_by_name

    assert not accept_short_names()


def test_a_module_that_is_gone_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deployment_names, "MODULE", "prefect.no_such_module_any_more")

    assert not accept_short_names()


@pytest.mark.parametrize(
    ("argv", "wrapped"),
    [(["prefect", "deployment", "run", "x"], True), (["prefect", "work-pool", "ls"], False)],
)
def test_the_hook_acts_only_for_the_deployment_command(
    client: type, monkeypatch: pytest.MonkeyPatch, argv: list[str], wrapped: bool
) -> None:
    monkeypatch.setattr(sys, "argv", argv)
    setup_environment(ctx=None)

    assert hasattr(client.read_deployment_by_name, "completes_names") == wrapped


def test_prefects_own_client_is_still_where_the_plug_in_looks() -> None:
    import importlib

    client = getattr(importlib.import_module(deployment_names.MODULE), deployment_names.CLIENT)
    assert callable(getattr(client, deployment_names.METHOD))
