"""A user runs the benchmark, looks at what it left, and runs it again."""

from __future__ import annotations

import json
from pathlib import Path

from tests.flows.params_text import RANDOM_VIT, write_small
from tests.journeys.commands import vitgeom


def test_the_second_run_finds_everything(tmp_path: Path) -> None:
    write_small(tmp_path, backbones=RANDOM_VIT)
    first = vitgeom("benchmark", folder=tmp_path)
    assert first.returncode == 0, first.stdout + first.stderr
    assert first.stderr == ""
    assert "60 images computed" in first.stdout
    page = tmp_path / "results" / "small" / "report.html"
    assert f"report: {page}" in first.stdout
    before = page.read_bytes()

    second = vitgeom("benchmark", folder=tmp_path)

    assert second.returncode == 0, second.stdout + second.stderr
    assert "60 images, cached" in second.stdout
    assert "(known before)" in second.stdout
    assert page.read_bytes() == before
    told = json.loads((tmp_path / "results" / "small" / "run.json").read_text())
    assert all(cell["cached"] for step in told["steps"].values() for cell in step.values())
