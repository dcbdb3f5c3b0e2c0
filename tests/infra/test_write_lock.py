from __future__ import annotations

import json
import runpy
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "infra" / "write_lock.py"


def test_the_lock_is_sorted_public_and_without_the_project_itself(tmp_path: Path) -> None:
    packages = [("torch", "2.9.1+cpu"), ("Some_Package", "1.0"), ("vitgeom", "0.1.0")]
    report = {"install": [{"metadata": {"name": name, "version": version}} for name, version in packages]}
    (tmp_path / "report.json").write_text(json.dumps(report))
    runpy.run_path(str(SCRIPT))["main"](tmp_path / "report.json", tmp_path / "lock")
    lines = [line for line in (tmp_path / "lock").read_text().splitlines() if not line.startswith("#")]
    assert lines == ["some-package==1.0", "torch==2.9.1"]


def test_the_committed_lock_covers_every_direct_requirement() -> None:
    root = SCRIPT.parents[1]
    import tomllib

    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    wanted = project["dependencies"] + project["optional-dependencies"]["dev"]
    names = {text.split(">")[0].split("[")[0].lower() for text in wanted}
    locked = {
        line.split("==")[0] for line in (root / "requirements.lock").read_text().splitlines() if "==" in line
    }
    assert names - locked == set()
