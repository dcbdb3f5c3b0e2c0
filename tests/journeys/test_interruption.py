"""A run that is stopped keeps what it finished, says how to go on, and goes on from there."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from pathlib import Path

from tests.flows.params_text import RANDOM_VIT, write_small
from tests.journeys.commands import PROGRAM, environment, vitgeom

NOISE = "[{name: noise, options: {n: 400, classes: 3, size: 32}}]"


def test_a_terminated_run_is_resumed(tmp_path: Path) -> None:
    write_small(tmp_path, datasets=NOISE, backbones=RANDOM_VIT)
    run = subprocess.Popen(
        [str(PROGRAM), "benchmark"],
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        deadline = time.monotonic() + 240
        while not list(tmp_path.glob(".vitgeom/store/features/*/*/*/done/train/*.json")):
            assert run.poll() is None, run.communicate()
            assert time.monotonic() < deadline, "no range was stored"
            time.sleep(0.02)
        run.send_signal(signal.SIGTERM)
        _, said = run.communicate(timeout=60)
    finally:
        run.kill()
        run.wait()
    assert run.returncode == 130, said
    assert "the same command goes on from there: vitgeom benchmark" in said

    again = vitgeom("benchmark", folder=tmp_path)

    assert again.returncode == 0, again.stdout + again.stderr
    [line] = [line for line in again.stdout.splitlines() if "images computed" in line]
    computed = int(line.split(", ")[1].split()[0])
    assert 0 < computed < 400
    [manifest] = (tmp_path / "results" / "small" / "features").glob("*/*.json")
    assert json.loads(manifest.read_text())["rows"] == 400
