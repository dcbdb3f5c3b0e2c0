"""What must hold for the whole tree: import walls, light imports, no machine-specific traces."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def _run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_the_import_walls_stand() -> None:
    done = _run(str(Path(sys.executable).with_name("lint-imports")))
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_breach_of_a_wall_is_found(tmp_path: Path) -> None:
    """The contract must be able to fail: a library module that imports an engine is named."""
    for package in ("flows", "tasks", "vitgeom"):
        (tmp_path / package).mkdir()
        (tmp_path / package / "__init__.py").write_text("")
    (tmp_path / "vitgeom" / "bad.py").write_text("import ray\nimport tasks\n")
    (tmp_path / "pyproject.toml").write_text((ROOT / "pyproject.toml").read_text())
    command = str(Path(sys.executable).with_name("lint-imports"))
    done = subprocess.run(
        [command],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": str(tmp_path)},
    )
    assert done.returncode != 0
    assert "vitgeom.bad -> ray" in done.stdout
    assert "vitgeom.bad -> tasks" in done.stdout


@pytest.mark.parametrize("module", ["vitgeom", "tasks"])
def test_importing_the_package_loads_no_engine(module: str) -> None:
    heavy = "torchvision, timm, zarr, ray, prefect, mlflow, sklearn, matplotlib"
    code = f"import sys, {module}; print([m for m in '{heavy}'.split(', ') if m in sys.modules])"
    done = _run(sys.executable, "-c", code)
    assert done.stdout.strip() == "[]", done.stdout + done.stderr


def test_no_source_file_names_a_place_on_one_machine() -> None:
    tracked = _run("git", "ls-files", "*.py", "*.md", "*.yaml", "*.toml", "Makefile", "*.lock").stdout.split()
    assert tracked, "not a git checkout: this test needs the list of tracked files"
    traces = ("/" + "work/", "/" + "root/", "/" + "home/", "/opt/" + "wheels")
    found = [
        (name, trace)
        for name in tracked
        for trace in traces
        if trace in (ROOT / name).read_text(errors="replace")
    ]
    assert found == []


def test_thousands_are_spelled_with_a_comma_wherever_people_read() -> None:
    tracked = _run("git", "ls-files", "*.py", "*.md", "*.yaml", "Makefile").stdout.split()
    assert "README.md" in tracked
    spaced = re.compile(r"(?<![\d.])\d{1,3}[ \u00a0\u2009\u202f]\d{3}(?!\d)")
    assert spaced.search("of 1 " + "797 images")
    found = [
        (name, number.group())
        for name in tracked
        if not name.startswith("tests/")
        for number in spaced.finditer((ROOT / name).read_text())
    ]
    assert found == []


def test_make_help_lists_every_target_aligned_and_first_what_a_reader_needs_first() -> None:
    done = _run("make", "--no-print-directory", "help")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    targets = [line.split()[1] for line in lines]
    declared = re.search(r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)
    assert declared is not None
    assert targets == declared.group(1).split()
    assert targets[:3] == ["benchmark", "test", "ui"]
    texts = [re.fullmatch(r"  make (\S+ +)(\S.*)", line) for line in lines]
    assert len({text and text.start(2) for text in texts}) == 1, done.stdout
