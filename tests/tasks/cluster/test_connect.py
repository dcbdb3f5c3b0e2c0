"""What a worker does first, and a connection beside a Ray that was imported by others."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tasks.cluster.connect import run_unit
from tests.support.checkout import ROOT
from tests.support.toy_tasks import ToyRequest, run_toy


def test_a_worker_switches_telemetry_off_before_it_works(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("DO_NOT_TRACK", "0")
    assert run_unit(run_toy, ToyRequest(folder=str(tmp_path), number=3)).digest == "9"
    assert os.environ["DO_NOT_TRACK"] == "true"


@pytest.mark.services
def test_a_ray_that_was_imported_first_still_gets_the_token() -> None:
    code = (
        "import ray\nfrom tasks.cluster.connect import Connection\n"
        "connection = Connection(address='local', num_cpus=1)\nprint('nodes', len(connection.nodes()))\nconnection.close()"
    )
    left_out = ("RAY_AUTH_MODE", "RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH")
    variables = {name: value for name, value in os.environ.items() if name not in left_out}
    variables["PYTHONPATH"] = str(ROOT)
    done = subprocess.run(
        [sys.executable, "-c", code], env=variables, capture_output=True, text=True, check=False
    )
    assert "nodes 1" in done.stdout, done.stderr
