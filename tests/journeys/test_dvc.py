"""``dvc repro`` and the benchmark share one store, write the same files, and redo only what a change concerns; results travel over S3."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.flows.params_text import write_small
from tests.journeys.commands import PROGRAM, environment, vitgeom
from tests.support.s3_server import S3Server, s3_server  # noqa: F401

PROJECT = Path(__file__).parents[2]
pytestmark = pytest.mark.services

NEEDED = ("dvc.yaml", ".dvcignore", ".dvc/config", ".dvc/.gitignore", ".gitignore")
WATCHED = (
    "data", "backbones", "probes", "recoverability", "fusion", "decoders", "linop",
    "metric", "randnla",
    "reduction", "spectra", "report",
)  # fmt: skip


def dvc(folder: Path, *arguments: str, **variables: str) -> str:
    """Run one DVC command that must succeed, and return what it said."""
    done = subprocess.run(
        [str(PROGRAM.with_name("dvc")), *arguments],
        cwd=folder,
        env=environment(**variables),
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def ran(said: str) -> set[str]:
    """Return the stages that a ``dvc repro`` ran, by their kind."""
    return {
        line.split("'")[1].partition("@")[0] for line in said.splitlines() if line.startswith("Running stage")
    }


def digests(folder: Path) -> dict[str, str]:
    """Return a digest of every result file but DVC's own notes and the two that tell how long things took."""
    files = [
        path
        for path in (folder / "results").rglob("*")
        if path.is_file() and path.name not in ("run.json", ".report.json", ".gitignore")
    ]
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(files)
    }


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A copy of the project's DVC files around a small study, in which the benchmark has been run."""
    folder = tmp_path_factory.mktemp("project")
    for name in NEEDED:
        (folder / name).parent.mkdir(exist_ok=True)
        shutil.copy(PROJECT / name, folder / name)
    for name in WATCHED:
        shutil.copytree(
            PROJECT / "vitgeom" / name,
            folder / "vitgeom" / name,
            ignore=shutil.ignore_patterns("__pycache__", "weights"),
        )
    params = write_small(folder, name="embedded", datasets="[noise]", backbones="[nano_supervised]")
    params.write_text(
        params.read_text()
        .replace("batch_size: 16", "batch_size: 64")
        .replace("rows_per_range: 16", "rows_per_range: 256")
        .replace("datasets: []", "datasets: [noise]")
    )
    subprocess.run(["git", "init", "-q", "."], cwd=folder, check=True)
    done = vitgeom("benchmark", folder=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture(scope="module")
def reproduced(project: Path) -> tuple[Path, dict[str, str], str]:
    """The same folder after ``dvc repro``, the digests before it, and what it said."""
    before = digests(project)
    return project, before, dvc(project, "repro")


def test_dvc_takes_over_what_the_benchmark_computed(reproduced: tuple[Path, dict[str, str], str]) -> None:
    project, before, said = reproduced

    assert ran(said) == {
        "extract",
        "probe",
        "fuse",
        "horizontal",
        "shift",
        "sweep",
        "diagnose",
        "metric",
        "report",
    }
    assert "images computed" not in said
    assert "fitted in" not in said
    assert digests(project) == before


def test_a_second_repro_runs_nothing(reproduced: tuple[Path, dict[str, str], str]) -> None:
    project, _, _ = reproduced

    assert "Data and pipelines are up to date." in dvc(project, "repro")


def test_the_benchmark_finds_what_dvc_left_and_dvc_stays_content(
    reproduced: tuple[Path, dict[str, str], str],
) -> None:
    project, before, _ = reproduced
    assert vitgeom("benchmark", folder=project).returncode == 0

    assert digests(project) == before
    assert "up to date" in dvc(project, "status")


def test_metrics_and_plots_are_known_to_dvc(reproduced: tuple[Path, dict[str, str], str]) -> None:
    project, _, _ = reproduced
    shown = json.loads(dvc(project, "metrics", "show", "--json"))

    assert "summary.json" in next(iter(shown[""]["data"]))
    assert "results/embedded/metrics.csv" in (project / "dvc.lock").read_text()


def test_results_travel_over_s3(
    reproduced: tuple[Path, dict[str, str], str],
    s3_server: S3Server,  # noqa: F811
) -> None:
    project, before, _ = reproduced
    keys = s3_server.environment()
    dvc(project, "remote", "add", "--local", "-d", "results", f"{s3_server.bucket('dvc-results')}/cache")
    dvc(project, "remote", "modify", "--local", "results", "endpointurl", s3_server.endpoint)
    dvc(project, "push", **keys)
    shutil.rmtree(project / ".dvc" / "cache")
    tracked = [name for name in before if not name.endswith(("summary.json", "metrics.csv"))]
    for name in tracked:
        (project / name).unlink()

    dvc(project, "pull", **keys)

    assert {name: digest for name, digest in digests(project).items() if name in tracked} == {
        name: before[name] for name in tracked
    }


def test_a_changed_probe_parameter_runs_what_depends_on_probes_only(
    reproduced: tuple[Path, dict[str, str], str],
) -> None:
    project, _, _ = reproduced
    params = yaml.safe_load((project / "params.yaml").read_text())
    params["profiles"]["embedded"]["probe"]["tol"] = 1.0e-4
    (project / "params.yaml").write_text(yaml.safe_dump(params))

    said = dvc(project, "repro")

    assert ran(said) == {"probe", "fuse", "horizontal", "shift", "sweep", "report"}
    assert "fitted in" in said


def test_a_changed_parameter_of_the_diagnosis_reaches_the_report(
    reproduced: tuple[Path, dict[str, str], str],
) -> None:
    project, _, _ = reproduced
    params = yaml.safe_load((project / "params.yaml").read_text())
    params["profiles"]["embedded"]["diagnose"]["rank"] = 3
    (project / "params.yaml").write_text(yaml.safe_dump(params))

    said = dvc(project, "repro")

    assert {"diagnose", "report"} <= ran(said) <= {"diagnose", "horizontal", "report"}
    assert "3 directions hold" in (project / "results" / "embedded" / "report.html").read_text()
