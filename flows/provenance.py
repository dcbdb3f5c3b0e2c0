"""Where results come from: the state of the code, the versions of what computes, and the machine. Equal states give equal records."""

from __future__ import annotations

import os
import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from flows.params import Profile

PACKAGES = ("vitgeom", "torch", "timm", "numpy", "zarr", "ray", "prefect", "dvc", "mlflow")
SOURCES = ("flows", "tasks", "vitgeom", "params.yaml")


STEPS_OF_THEIR_OWN = ("diagnose", "metric", "shift", "sweep")
"""Blocks of parameters of steps whose files may be of an earlier call with other ones. Those of diagnose and metric say what they were asked for, the section on shift names its
corruptions and severities, and the sweep is not on the page."""


def provenance(params: Profile) -> dict[str, Any]:
    """Return plain JSON: git, versions, machine and the parameters of what is made together."""
    return {
        "git": git_state(),
        "versions": {"python": platform.python_version(), **{name: _version(name) for name in PACKAGES}},
        "machine": {"system": f"{platform.system()} {platform.machine()}", "cpus": os.cpu_count()},
        "params": params.model_dump(mode="json", exclude=set(STEPS_OF_THEIR_OWN)),
    }


def git_state(folder: Path = Path()) -> dict[str, Any]:
    """Return the commit of the code and whether files of it were changed since; nothing where there is no git."""
    commit = _git(folder, "rev-parse", "HEAD")
    if not commit:
        return {}
    changed = _git(folder, "status", "--porcelain", "--untracked-files=no", "--", *SOURCES)
    return {"commit": commit, "changed": bool(changed)}


def _git(folder: Path, *arguments: str) -> str:
    try:
        done = subprocess.run(
            ["git", *arguments], cwd=folder, capture_output=True, text=True, timeout=10, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
