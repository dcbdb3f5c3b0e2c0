"""Whatever dies while targets are made, a later run ends with the bytes of an undisturbed one."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.marked_processes import Driver
from tests.support.small_extraction import stored_bytes
from tests.support.small_targets import make

# On a busy machine Ray and torch need minutes to start; what is measured is only how fast things end.
pytestmark = [pytest.mark.timeout(1200), pytest.mark.services]

StartDriver = Callable[..., Driver]
TOTAL_RANGES = 3


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    store = tmp_path_factory.mktemp("undisturbed")
    make(store)
    return store


@pytest.fixture
def start_driver(tmp_path: Path) -> Iterator[StartDriver]:
    drivers: list[Driver] = []

    def start(kind: str, *, pause: float) -> Driver:
        store = tmp_path / "store"
        program = ("tests.support.targets_driver", str(store), kind)
        drivers.append(Driver(store, kind=kind, pause=pause, scratch=tmp_path, program=program))
        return drivers[-1]

    yield start
    for driver in drivers:
        driver.kill_leftovers()


def test_a_killed_driver_loses_nothing(start_driver: StartDriver, tmp_path: Path, undisturbed: Path) -> None:
    driver = start_driver("serial", pause=1.0)
    driver.wait_for_ranges(1)
    driver.kill()
    finished = len(list((tmp_path / "store").rglob("done/*/*.json")))
    [sealed] = make(tmp_path / "store").values()
    assert 0 < finished < TOTAL_RANGES
    assert sealed.detail["computed_rows"] == 5 - 2 * finished
    assert stored_bytes(tmp_path / "store") == stored_bytes(undisturbed)


def test_a_killed_worker_is_replaced_and_the_result_is_the_same(
    start_driver: StartDriver, tmp_path: Path, undisturbed: Path
) -> None:
    driver = start_driver("ray", pause=1.0)
    for worker in driver.wait_for_workers():
        os.kill(worker, signal.SIGKILL)
    _, computed = driver.finish()
    assert computed == 5
    assert stored_bytes(tmp_path / "store") == stored_bytes(undisturbed)
