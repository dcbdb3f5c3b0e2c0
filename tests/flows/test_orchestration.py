"""Prefect runs a flow where an API is configured or where it is asked for; otherwise Prefect is not even imported."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from flows import orchestration, steps
from flows.orchestration import choose, start
from flows.steps import flow
from tests.support.checkout import ROOT
from vitgeom.errors import UnknownName


@flow(name="doubling", run_name="doubling")
def doubled(number: int) -> int:
    """Double a number."""
    return 2 * number


@pytest.fixture(autouse=True)
def _no_api(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("PREFECT_API_URL", raising=False)
    monkeypatch.delenv("PREFECT_PROFILES_PATH", raising=False)
    monkeypatch.setenv("PREFECT_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def prefect(monkeypatch: pytest.MonkeyPatch) -> None:
    """Prefect's own flow is replaced by one that says so."""
    monkeypatch.setitem(doubled.__dict__, "prefect", lambda number: f"under prefect {number}")


def test_without_an_api_the_function_is_called_plainly(
    prefect: None, capsys: pytest.CaptureFixture[str]
) -> None:
    assert start(doubled, "auto", 3) == 6
    assert capsys.readouterr().out == "orchestrator: plain (no Prefect API is configured)\n"


def test_with_an_api_prefect_runs_the_flow(prefect: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PREFECT_API_URL", "http://127.0.0.1:4200/api")

    assert start(doubled, "auto", 3) == "under prefect 3"
    assert choose().reason == "API at http://127.0.0.1:4200/api"


PROFILE = """
active = "team"
[profiles.team]
PREFECT_API_URL = "http://127.0.0.1:4300/api"
"""


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("profiles.toml", PROFILE),
        ("prefect.toml", '[api]\nurl = "http://127.0.0.1:4300/api"\n'),
        ("pyproject.toml", '[tool.prefect.api]\nurl = "http://127.0.0.1:4300/api"\n'),
        (".env", "PREFECT_API_URL=http://127.0.0.1:4300/api\n"),
    ],
)
def test_an_api_in_prefects_own_files_counts(tmp_path: Path, file: str, text: str) -> None:
    (tmp_path / file).write_text(text)
    code = "from flows.orchestration import choose; print(choose())"
    said = subprocess.check_output(
        [sys.executable, "-c", code], cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(ROOT)}, text=True
    )

    assert said == "Orchestrator(name='prefect', reason='API at http://127.0.0.1:4300/api')\n"


def test_files_that_speak_of_no_api_do_not_load_prefect(tmp_path: Path) -> None:
    (tmp_path / "prefect.toml").write_text("[logging]\nlevel = 'INFO'\n")
    code = (
        "import sys; from flows.orchestration import choose; print(choose().name, 'prefect' in sys.modules)"
    )
    said = subprocess.check_output(
        [sys.executable, "-c", code], cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(ROOT)}, text=True
    )

    assert said == "plain False\n"


def test_what_is_asked_for_wins(prefect: None, monkeypatch: pytest.MonkeyPatch) -> None:
    assert start(doubled, "prefect", 1) == "under prefect 1"
    monkeypatch.setenv("PREFECT_API_URL", "http://127.0.0.1:4200/api")
    assert start(doubled, "plain", 1) == 2


def test_inside_a_flow_run_everything_runs_under_prefect(
    prefect: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert doubled(2) == 4
    for module in (steps, orchestration):
        monkeypatch.setattr(module, "inside_flow_run", lambda: True)
    assert doubled(2) == "under prefect 2"
    assert choose().name == "prefect"


def test_an_unknown_orchestrator_is_refused() -> None:
    with pytest.raises(UnknownName, match=r"unknown orchestrator 'airflow'\. .*Known: auto, plain, prefect"):
        choose("airflow")  # type: ignore[arg-type]
