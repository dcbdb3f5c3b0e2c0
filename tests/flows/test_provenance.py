"""Provenance says which code computed, and the same twice."""

from __future__ import annotations

import subprocess
from pathlib import Path

from flows.profiles import load_profile
from flows.provenance import git_state, provenance
from tests.flows.params_text import write_small


def git(folder: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


def test_changed_code_is_told_from_changed_results(tmp_path: Path) -> None:
    (tmp_path / "vitgeom").mkdir()
    (tmp_path / "vitgeom" / "code.py").write_text("a = 1\n")
    (tmp_path / "dvc.lock").write_text("one\n")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-q", "-m", "one")
    before = git_state(tmp_path)
    (tmp_path / "dvc.lock").write_text("two\n")
    assert git_state(tmp_path) == before == {"commit": before["commit"], "changed": False}

    (tmp_path / "vitgeom" / "code.py").write_text("a = 2\n")

    assert git_state(tmp_path) == {"commit": before["commit"], "changed": True}


def test_a_folder_without_git_says_nothing_about_it(tmp_path: Path) -> None:
    assert git_state(tmp_path) == {}


def test_the_same_state_gives_the_same_record(tmp_path: Path) -> None:
    _, params = load_profile(write_small(tmp_path))

    assert provenance(params) == provenance(params)
    assert provenance(params)["params"]["probe"]["tol"] == 1e-5
    assert provenance(params)["versions"]["torch"]
