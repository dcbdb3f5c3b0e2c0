"""The Ray engine against the contract that the serial engine fulfils, and what only a cluster can do wrong."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tasks.cluster.engine import RayEngine
from tasks.engine import SerialEngine
from tasks.extract_dataset import extract
from tasks.failure import EngineClosed
from tasks.request import ProbeRequest
from tests.contracts.executor import EngineContract, toys
from tests.support.checkout import ROOT
from tests.support.flaky_extraction import flaky_catalogue
from tests.support.ray_engine import two_cpu_engine
from tests.support.small_extraction import BACKBONE, TOKEN_LAYERS, noise, settings, stored_bytes
from tests.support.toy_tasks import TOYS, ToyRequest, tries
from vitgeom.errors import InvalidInput, ResourceShortage

pytestmark = pytest.mark.services


@pytest.fixture(scope="module")
def shared_engine() -> Iterator[RayEngine]:
    with two_cpu_engine() as engine:
        yield engine


class TestRayEngine(EngineContract):
    @pytest.fixture
    def engine(self, shared_engine: RayEngine) -> RayEngine:
        return shared_engine


def test_units_run_in_other_processes_and_no_more_than_asked_at_a_time(
    shared_engine: RayEngine, tmp_path: Path
) -> None:
    shared_engine.map("toy", toys(tmp_path, 6, seconds=0.1))
    lines = [line for number in range(6) for line in tries(tmp_path, number)]
    pids = {line.split()[0] for line in lines}
    assert str(threading.get_native_id()) not in pids
    assert 1 <= len(pids) <= 2


def test_a_unit_that_fits_no_machine_is_refused_at_once(shared_engine: RayEngine, tmp_path: Path) -> None:
    with pytest.raises(
        ResourceShortage,
        match=r"task toy: one unit asks for 1 CPU, 1 GPU, 0.0 GiB memory; available on 1 machine: 2 CPU, 0 GPU",
    ):
        shared_engine.map("toy", toys(tmp_path, 1, gpus=1.0))
    with pytest.raises(ResourceShortage, match=r"10240.0 GiB memory; available"):
        shared_engine.map("toy", toys(tmp_path, 1, memory_bytes=10 * 2**40))
    assert shared_engine.map("toy", toys(tmp_path, 1))[0].digest == "0"


def test_a_second_connection_of_the_process_is_refused(shared_engine: RayEngine, tmp_path: Path) -> None:
    shared_engine.map("toy", toys(tmp_path, 1))
    other = RayEngine(catalogue=TOYS)
    with pytest.raises(InvalidInput, match="already connected to a Ray cluster"):
        other.map("toy", toys(tmp_path, 2))
    assert shared_engine.map("toy", [ToyRequest(folder=str(tmp_path), number=5)])[0].digest == "25"


def test_extraction_and_probes_end_with_the_bytes_of_a_serial_run(
    shared_engine: RayEngine, tmp_path: Path
) -> None:
    """Every third unit's worker is killed once; the stores must not show it."""
    wanted = settings(token_layers=TOKEN_LAYERS)
    for name, engine in (("serial", SerialEngine(catalogue=flaky_catalogue())), ("ray", shared_engine)):
        store = tmp_path / name / "store"
        sealed = extract(noise(), BACKBONE, store=str(store), settings=wanted, engine=engine)
        request = ProbeRequest(
            store=str(store),
            address=sealed.detail["address"],
            manifest_digest=sealed.digest,
            l2=(0.01, 0.1),
            num_bootstrap=20,
        )
        engine.map("fit_probes", [request])
    serial, ray = stored_bytes(tmp_path / "serial" / "store"), stored_bytes(tmp_path / "ray" / "store")
    assert list(serial) == list(ray)
    assert [name for name in serial if serial[name] != ray[name]] == []
    failed = [
        sorted(path.name for path in (tmp_path / name / "failed").iterdir()) for name in ("serial", "ray")
    ]
    assert failed == [["test-8", "train-32", "train-8", "val-8"]] * 2


def test_a_closed_engine_refuses_work(tmp_path: Path) -> None:
    engine = RayEngine(catalogue=TOYS)
    engine.close()
    engine.close()
    with pytest.raises(EngineClosed, match="this engine is closed"):
        engine.map("toy", toys(tmp_path, 1))


def test_an_engine_that_can_have_nothing_in_flight_is_refused() -> None:
    with pytest.raises(InvalidInput, match="max_in_flight must be >= 1 unit, got 0"):
        RayEngine(max_in_flight=0)


JOINING = """
import sys
from pathlib import Path
from tasks.cluster.engine import RayEngine
from tests.support.toy_tasks import TOYS, ToyRequest

engine = RayEngine(address=sys.argv[1], catalogue=TOYS)
try:
    print(engine.map("toy", [ToyRequest(folder=sys.argv[2], number=6)])[0].digest)
finally:
    engine.close()
"""


def test_a_named_cluster_is_joined_and_left_running(shared_engine: RayEngine, tmp_path: Path) -> None:
    import ray

    shared_engine.map("toy", toys(tmp_path, 1))
    address = ray.get_runtime_context().gcs_address
    command = [sys.executable, "-c", JOINING, address, str(tmp_path)]
    done = subprocess.run(
        command, env={**os.environ, "PYTHONPATH": str(ROOT)}, stdout=subprocess.PIPE, text=True, check=True
    )
    assert done.stdout.split()[-1] == "36"
    assert shared_engine.map("toy", [ToyRequest(folder=str(tmp_path), number=7)])[0].digest == "49"


def test_a_cluster_that_does_not_answer_is_refused_soon(tmp_path: Path) -> None:
    command = [sys.executable, "-c", JOINING, "127.0.0.1:1", str(tmp_path)]
    done = subprocess.run(
        command,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 1
    assert "ResourceShortage: cannot reach the Ray cluster at 127.0.0.1:1" in done.stderr
