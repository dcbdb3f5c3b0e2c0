"""The Ray engine against the contract that the serial engine fulfils, and what only a cluster can do wrong."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tasks.cluster.engine import RayEngine
from tests.contracts.executor import EngineContract, toys
from tests.support.ray_engine import two_cpu_engine
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
