"""A stage whose parent dies ends by itself, in an orderly way."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml

from tests.support.checkout import ROOT

CHILD = """
import sys, time
from pathlib import Path
from flows.parent_watch import end_with_parent
from tasks.termination import sigterm_raises
end_with_parent(interval=0.05)
with sigterm_raises():
    Path(sys.argv[1]).write_text("started")
    try:
        time.sleep(60)
    finally:
        Path(sys.argv[1]).write_text("cleaned up")
"""
PARENT = """
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", sys.argv[1], sys.argv[2]])
print(child.pid, flush=True)
time.sleep(60)
"""


STAGE = """
stages:
  child:
    cmd: {prefix} {python} child.py note
"""


def wait_for(condition, seconds: float = 30.0) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.05)
    return False


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2]


def test_a_child_ends_in_order_when_its_parent_is_killed(tmp_path: Path) -> None:
    note = tmp_path / "note"
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", PARENT, CHILD, str(note)]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        try:
            assert wait_for(note.exists)
            assert alive(child)
            parent.kill()
            parent.wait()

            assert wait_for(lambda: note.read_text() == "cleaned up")
            assert wait_for(lambda: not alive(child))
        finally:
            if alive(child):
                os.kill(child, signal.SIGKILL)


@pytest.mark.parametrize("shell", ["/bin/bash", "/bin/sh", None])
def test_a_stage_ends_when_dvc_is_killed(tmp_path: Path, shell: str | None) -> None:
    """DVC starts stages through the user's shell, which must not stand between the two."""
    command = yaml.safe_load((ROOT / "dvc.yaml").read_text())["vars"][0]["vitgeom"]
    prefix = command.removesuffix(" vitgeom")
    note, pid = tmp_path / "note", tmp_path / "pid"
    (tmp_path / "child.py").write_text(
        f"import os\nfrom pathlib import Path\nPath('pid').write_text(str(os.getpid()))\n{CHILD}"
    )
    (tmp_path / "dvc.yaml").write_text(STAGE.format(prefix=prefix, python=sys.executable))
    environment = os.environ | {"PYTHONPATH": str(ROOT), "DVC_NO_ANALYTICS": "1", "SHELL": shell or ""}
    if shell is None:
        del environment["SHELL"]
    program = str(Path(sys.executable).with_name("dvc"))
    subprocess.run([program, "init", "-q", "--no-scm"], cwd=tmp_path, env=environment, check=True)
    with subprocess.Popen([program, "repro", "-q"], cwd=tmp_path, env=environment) as dvc:
        try:
            assert wait_for(note.exists, seconds=60)
            dvc.kill()
            dvc.wait()

            assert wait_for(lambda: note.read_text() == "cleaned up")
            assert wait_for(lambda: not alive(int(pid.read_text())))
        finally:
            dvc.kill()
            if pid.exists() and alive(int(pid.read_text())):
                os.kill(int(pid.read_text()), signal.SIGKILL)
