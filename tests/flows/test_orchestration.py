"""Prefect runs a flow where an API is configured or where it is asked for; otherwise nothing of Prefect is started."""

from __future__ import annotations

import pytest
from prefect.settings import PREFECT_API_URL, temporary_settings

from flows import orchestration
from flows.orchestration import call, choose, start
from vitgeom.errors import UnknownName


class Flow:
    """Stands for a Prefect flow: called, or its plain function called."""

    def __call__(self, number: int) -> str:
        return f"under prefect {number}"

    def fn(self, number: int) -> str:
        return f"plainly {number}"


def test_without_an_api_the_functions_are_called_plainly(capsys: pytest.CaptureFixture[str]) -> None:
    with temporary_settings(restore_defaults={PREFECT_API_URL}):
        assert start(Flow(), 3) == "plainly 3"

    assert capsys.readouterr().out == "orchestrator: plain (no Prefect API is configured)\n"


def test_with_an_api_prefect_runs_the_flow() -> None:
    with temporary_settings({PREFECT_API_URL: "http://127.0.0.1:4200/api"}):
        assert start(Flow(), 3) == "under prefect 3"
        assert choose().reason == "API at http://127.0.0.1:4200/api"


@pytest.mark.parametrize(("kind", "said"), [("prefect", "under prefect 1"), ("plain", "plainly 1")])
def test_what_is_asked_for_wins(kind: orchestration.Kind, said: str) -> None:
    with temporary_settings({PREFECT_API_URL: "http://127.0.0.1:4200/api"}):
        assert start(Flow(), 1, kind=kind) == said


def test_inside_a_flow_run_everything_runs_under_prefect(monkeypatch: pytest.MonkeyPatch) -> None:
    assert call(Flow(), 2) == "plainly 2"
    monkeypatch.setattr(orchestration, "inside_flow_run", lambda: True)
    assert call(Flow(), 2) == "under prefect 2"
    assert choose().name == "prefect"


def test_an_unknown_orchestrator_is_refused() -> None:
    with pytest.raises(UnknownName, match=r"unknown orchestrator 'airflow'\. .*Known: auto, plain, prefect"):
        choose("airflow")  # type: ignore[arg-type]
