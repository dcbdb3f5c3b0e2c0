"""Deployed flows run on a real server and worker, under their long and their short names."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.flows.params_text import RANDOM_VIT, write_small
from tests.support.prefect_server import PrefectServer, running_prefect

PROJECT = Path(__file__).parents[2]
pytestmark = pytest.mark.services


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project folder with a small study in it."""
    folder = tmp_path_factory.mktemp("project")
    write_small(folder, name="embedded", backbones=RANDOM_VIT)
    shutil.copy(PROJECT / "prefect.toml", folder)
    return folder


@pytest.fixture(scope="module")
def prefect(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[PrefectServer]:
    """A server and a worker, with all deployments of the project made from that folder."""
    with running_prefect(tmp_path_factory.mktemp("prefect"), folder=folder) as server:
        deployed = server.command(
            "--no-prompt",
            "deploy",
            "--all",
            "--prefect-file",
            str(PROJECT / "infra" / "prefect.yaml"),
            cwd=folder,
        )
        assert deployed.returncode == 0, deployed.stdout + deployed.stderr
        yield server


def run(prefect: PrefectServer, folder: Path, name: str, *options: str) -> tuple[int, str]:
    done = prefect.command(
        "deployment", "run", name, "--watch", "--watch-interval", "1", *options, cwd=folder
    )
    return done.returncode, done.stdout + done.stderr


def test_the_whole_study_runs_as_a_deployment_and_leaves_its_summary(
    prefect: PrefectServer, folder: Path
) -> None:
    code, said = run(prefect, folder, "full-benchmark/full-benchmark")

    assert code == 0, said + (prefect.home / "worker.log").read_text()[-4000:]
    assert (folder / "results" / "embedded" / "report.html").is_file()
    told = json.loads((folder / "results" / "embedded" / "run.json").read_text())
    assert told["orchestrator"] == "prefect"
    shown = prefect.command("artifact", "ls", cwd=folder).stdout
    assert "benchmark-summary" in shown
    assert "accuracies" in shown
    runs = prefect.command("flow-run", "ls", cwd=folder).stdout
    assert all(name in runs for name in ("full-benchmark", "extract features", "fit probes", "write report"))
    log = (prefect.home / "worker.log").read_text()
    assert "Task run 'extract noise-" in log


def test_a_short_name_runs_the_deployment_of_the_flow_of_that_name(
    prefect: PrefectServer, folder: Path
) -> None:
    code, said = run(prefect, folder, "report")

    assert code == 0, said + (prefect.home / "worker.log").read_text()[-4000:]
    assert "deployment 'report/report'" in said


def test_an_unknown_profile_ends_the_run_as_failed(prefect: PrefectServer, folder: Path) -> None:
    code, said = run(prefect, folder, "full-benchmark", "--param", "profile=embeded")

    assert code == 1, said
    assert "Did you mean 'embedded'?" in (prefect.home / "worker.log").read_text()
