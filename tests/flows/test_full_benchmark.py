"""The whole study in one process: what it leaves, that a second run computes nothing, and that one bad cell stops nobody."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from flows.full_benchmark import full_benchmark
from flows.outcome import PartsFailed
from tasks import index_dataset
from tasks.index_dataset import IndexRequest
from tests.flows.params_text import NOISE, RANDOM_VIT, write_small

# The tracker's import announces changes of its own dependencies.
pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::ResourceWarning"
)


def contents(folder: Path) -> dict[str, bytes]:
    """Return every result file but the one that tells how the last run went."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != "run.json")
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def test_the_results_folder_holds_manifest_probes_findings_and_page(finished: Path) -> None:
    names = set(contents(finished / "results" / "small"))

    [manifest] = [name for name in names if name.startswith("features/")]
    cell = manifest.removeprefix("features/").removesuffix(".json")
    assert {f"probes/{cell}.safetensors", f"probes/{cell}.json", f"recoverability/{cell}.json"} <= names
    assert {f"fusion/{cell}.json", f"fusion/{cell}.safetensors"} <= names
    assert f"horizontal/{cell.partition('/')[0]}.json" in names
    assert {"report.html", "metrics.csv", "summary.json"} <= names


def test_the_page_says_what_each_stage_took(finished: Path) -> None:
    page = (finished / "results" / "small" / "report.html").read_text()
    for column in ("time", "stored", "peak memory"):
        assert f">{column}</th>" in page


def test_no_result_file_names_the_folder_or_the_moment_of_the_run(finished: Path) -> None:
    for name, data in contents(finished / "results" / "small").items():
        assert str(finished).encode() not in data, name


def test_a_second_run_computes_nothing_and_changes_no_file(
    finished: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(finished)
    before = contents(finished / "results" / "small")
    summary = full_benchmark.fn()

    assert contents(finished / "results" / "small") == before
    told = json.loads((finished / "results" / "small" / "run.json").read_text())
    assert [cell["cached"] for step in told["steps"].values() for cell in step.values()] == [True, True, True]
    assert told["orchestrator"] == "plain"
    assert list(summary["cells"]) == list(told["steps"]["probe"])


def test_another_store_gives_the_same_bytes_but_for_the_times(
    finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(finished)
    full_benchmark.fn(store=str(tmp_path / "store"), out=str(tmp_path / "results"))

    again = contents(tmp_path / "results")
    first = contents(finished / "results" / "small")
    assert again.keys() == first.keys()
    assert {name for name in first if first[name] != again[name]} <= {"report.html", ".report.json"}


def test_a_changed_probe_parameter_refits_but_extracts_nothing(
    finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(finished)
    full_benchmark.fn(overrides=["probe.tol=1e-4"], out=str(tmp_path / "results"))

    steps = json.loads((tmp_path / "results" / "run.json").read_text())["steps"]
    assert {step: [cell["cached"] for cell in cells.values()] for step, cells in steps.items()} == {
        "extract": [True],
        "probe": [False],
        "fuse": [False],
        "horizontal": [],
        "shift": [],
        "diagnose": [],
        "metric": [],
        "sweep": [],
    }


def test_a_changed_fusion_parameter_fits_methods_and_nothing_else(
    finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(finished)
    full_benchmark.fn(overrides=["fusion.seeds=[0]"], out=str(tmp_path / "results"))

    steps = json.loads((tmp_path / "results" / "run.json").read_text())["steps"]
    assert [[cell["cached"] for cell in cells.values()] for cells in steps.values()] == [
        [True],
        [True],
        [False],
        *[[]] * 5,
    ]


def test_datasets_that_are_named_for_it_are_shifted_and_swept_too(
    finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(finished, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    results = tmp_path / "results" / "small"
    before = contents(results)

    full_benchmark.fn(overrides=["shift.datasets=[noise]", "sweep.datasets=[noise]"])

    after = contents(results)
    new = {name.partition("/")[0] + "".join(Path(name).suffixes) for name in after.keys() - before.keys()}
    assert {"fusion.shift.json", "sweep.json", "sweep.trials.json"} <= new
    assert b"Under shift" in after["report.html"]
    assert b"Under shift" not in before["report.html"]
    steps = json.loads((results / "run.json").read_text())["steps"]
    assert len(steps["shift"]) == len(steps["sweep"]) == len(steps["extract"])


def test_fusion_that_fails_leaves_the_probes_and_is_reported(
    finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(finished)
    overrides = ["fusion.methods=[vfusion]", "fusion.encoder.latent_dim=4000"]
    with pytest.raises(PartsFailed, match=r"benchmark: 1 of 1 failed(.|\n)*latent_dim must be at most"):
        full_benchmark.fn(overrides=overrides, out=str(tmp_path / "results"))

    page = (tmp_path / "results" / "report.html").read_text()
    assert "latent_dim must be at most" in page
    assert "Test accuracy by layer" in page


def test_one_cell_that_fails_is_reported_and_the_others_are_done(tmp_path: Path) -> None:
    """An image that changes after it was indexed is refused when it is read, deep inside the work of its cell."""
    images = tmp_path / "images"
    generator = np.random.default_rng(0)
    for name in ("a", "b"):
        (images / name).mkdir(parents=True)
        for number in range(10):
            Image.fromarray(generator.integers(0, 256, (32, 32, 3), dtype=np.uint8)).save(
                images / name / f"{number}.png"
            )
    store = str(tmp_path / "store")
    index = index_dataset.run(IndexRequest(store=store, root=str(images))).uri
    Image.new("RGB", (32, 32)).save(images / "a" / "3.png")
    bad = f"{{name: folder, options: {{root: {images}, index: {index}}}}}"
    write_small(tmp_path, datasets=NOISE.replace("[", f"[{bad}, "), backbones=RANDOM_VIT)

    with pytest.raises(
        PartsFailed, match=r"benchmark: 1 of 2 failed(.|\n)*images × vit_tiny.*has changed since"
    ):
        full_benchmark.fn(store=store)

    told = json.loads((tmp_path / "results" / "small" / "run.json").read_text())["steps"]
    assert ["failed" in cell for cell in told["extract"].values()] == [True, False]
    assert [cell["rows"] for cell in told["probe"].values()] == [60]
    assert [cell["rows"] for cell in told["fuse"].values()] == [60]
    page = (tmp_path / "results" / "small" / "report.html").read_text()
    assert "has changed since the folder was indexed" in page


def test_other_parameters_leave_the_plain_report_alone_and_say_where_theirs_is(
    finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(finished, tmp_path / "study")
    monkeypatch.chdir(tmp_path / "study")
    before = contents(Path("results/small"))
    full_benchmark.fn(overrides=["recoverability.num_bootstrap=60", "engine.max_in_flight=1"])

    assert contents(Path("results/small")) == before
    assert Path("results/small-recoverability.num_bootstrap=60/report.html").is_file()
    said = capsys.readouterr().out.splitlines()
    note = "recoverability.num_bootstrap=60: other than in profile 'small'; results are in results/small-recoverability.num_bootstrap=60"
    assert said[0] == said[-1] == note
