"""Run ``vitgeom`` as a user does: a process of its own, in a folder of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

PROGRAM = Path(sys.executable).with_name("vitgeom")
FOREIGN = ("PREFECT_", "MLFLOW_", "VITGEOM_", "AWS_", "RAY_")


def environment(**more: str) -> dict[str, str]:
    """Return this environment without what would lead a run to somebody's servers or store."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN)}
    return {**kept, "OMP_NUM_THREADS": "1", "PATH": f"{PROGRAM.parent}{os.pathsep}{kept['PATH']}", **more}


def vitgeom(*arguments: str, folder: Path, timeout: float = 300.0) -> subprocess.CompletedProcess[str]:
    """Run one command to its end."""
    return subprocess.run(
        [str(PROGRAM), *arguments],
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
