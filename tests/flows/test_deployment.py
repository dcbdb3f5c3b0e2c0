"""Deployed flows run on a real server and worker, under their long and their short names."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.flows.params_text import RANDOM_VIT, write_small
from tests.support.prefect_server import PrefectServer, running_prefect

PROJECT = Path(__file__).parents[2]
pytestmark = pytest.mark.services

# 900, 300 and 300 images: ranges of 15 rows divide them all.
MANY = "[{name: noise, options: {n: 1500, classes: 3, size: 32}}]"


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


def names(prefect: PrefectServer, kind: str, *, field: str = "name") -> list[str]:
    """Return the names of everything of one kind that the server knows."""
    request = urllib.request.Request(
        f"{prefect.url}/{kind}/filter",
        data=b"{}",
        headers={"Content-Type": "application/json"},
        method="POST",
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        return [str(item[field]) for item in json.load(answer)]


def test_all_flows_are_deployed_under_the_names_of_their_flows(prefect: PrefectServer) -> None:
    expected = [
        "diagnose",
        "extract",
        "full-benchmark",
        "fuse",
        "horizontal",
        "metric",
        "probe",
        "report",
        "shift",
        "sweep",
    ]
    assert sorted(names(prefect, "deployments")) == expected
    assert set(names(prefect, "flows")) == set(expected)


def test_the_short_name_runs_the_whole_study_and_the_run_shows_its_summary(
    prefect: PrefectServer, folder: Path
) -> None:
    done = prefect.command(
        "deployment", "run", "full-benchmark", "--watch", "--watch-interval", "1", cwd=folder
    )

    log = (prefect.home / "worker.log").read_text()
    assert done.returncode == 0, done.stdout + done.stderr + log[-4000:]
    assert "deployment 'full-benchmark/full-benchmark'" in done.stdout
    assert (folder / "results" / "embedded" / "report.html").is_file()
    assert json.loads((folder / "results" / "embedded" / "run.json").read_text())["orchestrator"] == "prefect"
    assert {"benchmark-summary", "accuracies"} <= set(names(prefect, "artifacts", field="key"))
    assert {"full-benchmark", "extract features", "fit probes", "fuse layers", "write report"} <= set(
        names(prefect, "flow_runs")
    )
    tasks = names(prefect, "task_runs")
    assert any(name.startswith("extract noise-") and " × vit_tiny" in name for name in tasks), tasks


def test_the_long_name_needs_no_plug_in(prefect: PrefectServer, folder: Path) -> None:
    shown = prefect.command("deployment", "inspect", "probe/probe", cwd=folder)

    assert shown.returncode == 0, shown.stdout + shown.stderr
    assert "flows.deployments.probe" in shown.stdout


def test_a_terminated_run_ends_its_ray_work_and_is_resumed(prefect: PrefectServer, tmp_path: Path) -> None:
    """Prefect and Ray both have handlers for SIGTERM; together they must neither hang nor leave work running."""
    params = write_small(tmp_path, datasets=MANY, backbones=RANDOM_VIT)
    params.write_text(
        params.read_text()
        .replace("kind: serial", "kind: ray")
        .replace("rows_per_range: 16", "rows_per_range: 15")
    )
    program = str(Path(sys.executable).with_name("vitgeom"))
    with (
        (tmp_path / "log").open("w") as log,
        subprocess.Popen(
            [program, "benchmark"],
            cwd=tmp_path,
            env=prefect.environment,
            stdout=log,
            stderr=subprocess.STDOUT,
        ) as run,
    ):
        try:
            wait_for_a_stored_range(tmp_path, run)
            run.send_signal(signal.SIGTERM)
            code = run.wait(timeout=30)
        finally:
            run.kill()
    said = (tmp_path / "log").read_text()
    assert code == 130, said
    assert "goes on from there: vitgeom benchmark" in said
    assert "Finished in state Crashed('Execution was aborted by a termination signal.')" in said
    stored = len(ranges(tmp_path))

    again = subprocess.run(
        [program, "benchmark", "--orchestrator", "plain", "--engine", "serial"],
        cwd=tmp_path, env=prefect.environment, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip

    assert again.returncode == 0, again.stdout + again.stderr
    [line] = [line for line in again.stdout.splitlines() if "images computed" in line]
    assert int(line.split(", ")[1].split()[0].replace(",", "")) == 1500 - 15 * stored, (
        "only what was missing when the run ended"
    )


def ranges(folder: Path) -> list[Path]:
    """Return the done-markers of all stored ranges."""
    return list(folder.glob(".vitgeom/store/features/*/*/*/done/*/*.json"))


def wait_for_a_stored_range(folder: Path, run: subprocess.Popen[bytes]) -> None:
    """Wait until the run has stored something."""
    deadline = time.monotonic() + 200
    while not ranges(folder):
        assert run.poll() is None, (folder / "log").read_text()
        assert time.monotonic() < deadline, "no range was stored"
        time.sleep(0.05)
