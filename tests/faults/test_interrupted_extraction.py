"""Whatever dies in the middle of an extraction, a later run ends with the bytes of an undisturbed one."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tasks.engine import SerialEngine
from tasks.extract_dataset import extract
from tasks.receipt import Receipt
from tests.support.marked_processes import Driver
from tests.support.small_extraction import BACKBONE, TOKEN_LAYERS, noise, settings, stored_bytes
from vitgeom.errors import StoreLocked

# On a busy machine Ray and torch need minutes to start; what is measured is only how fast things end.
pytestmark = pytest.mark.timeout(1200)

StartDriver = Callable[..., Driver]
TOTAL_RANGES = 9


def extract_here(store: Path) -> Receipt:
    wanted = settings(token_layers=TOKEN_LAYERS)
    return extract(noise(), BACKBONE, store=str(store), settings=wanted, engine=SerialEngine())


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    store = tmp_path_factory.mktemp("undisturbed")
    extract_here(store)
    return store


@pytest.fixture
def start_driver(tmp_path: Path) -> Iterator[StartDriver]:
    drivers: list[Driver] = []

    def start(kind: str, *, pause: float) -> Driver:
        drivers.append(Driver(tmp_path / "store", kind=kind, pause=pause, scratch=tmp_path))
        return drivers[-1]

    yield start
    for driver in drivers:
        driver.kill_leftovers()


def is_running(pid: int) -> bool:
    """Whether a process is there and not merely waiting for its parent to take notice of its end."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def wait_until(condition: Callable[[], bool], *, seconds: float) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"waited {seconds} s in vain"
        time.sleep(0.1)


def assert_resumes(store: Path, undisturbed: Path) -> None:
    """Finish in this process: only what is missing is computed, and the bytes are those of an undisturbed run."""
    finished = len(list(store.rglob("done/*/*.json")))
    sealed = extract_here(store)
    assert sealed.detail["computed_ranges"] == TOTAL_RANGES - finished
    assert 0 < finished < TOTAL_RANGES
    assert stored_bytes(store) == stored_bytes(undisturbed)


@pytest.mark.services
@pytest.mark.parametrize(
    ("number", "codes"), [(signal.SIGINT, (-signal.SIGINT, 130, 1)), (signal.SIGTERM, (143,))]
)
def test_a_signal_ends_driver_and_workers_within_ten_seconds(
    start_driver: StartDriver, tmp_path: Path, undisturbed: Path, number: int, codes: tuple[int, ...]
) -> None:
    driver = start_driver("ray", pause=1.0)
    driver.wait_for_ranges(2)
    workers = driver.wait_for_workers()
    driver.process.send_signal(number)
    driver.assert_all_gone(seconds=10.0)
    _, errors = driver.process.communicate(timeout=60)
    assert driver.process.returncode in codes, errors
    assert not any(is_running(worker) for worker in workers)
    assert not list((tmp_path / "store").rglob("lease/*")), "an orderly end gives the lease back"
    assert_resumes(tmp_path / "store", undisturbed)


@pytest.mark.services
def test_a_signal_while_ray_starts_leaves_nothing_behind(start_driver: StartDriver) -> None:
    driver = start_driver("ray", pause=1.0)
    driver.wait_ready()
    time.sleep(4.0)
    driver.process.send_signal(signal.SIGTERM)
    driver.process.communicate(timeout=30)
    driver.assert_all_gone(seconds=20.0)


@pytest.mark.services
def test_a_killed_worker_is_replaced_and_the_result_is_the_same(
    start_driver: StartDriver, tmp_path: Path, undisturbed: Path
) -> None:
    driver = start_driver("ray", pause=1.0)
    for worker in driver.wait_for_workers():
        os.kill(worker, signal.SIGKILL)
    digest, computed = driver.finish()
    assert (digest, computed) == (extract_here(undisturbed).digest, TOTAL_RANGES)
    assert stored_bytes(tmp_path / "store") == stored_bytes(undisturbed)


@pytest.mark.services
def test_a_killed_driver_takes_its_workers_along_and_loses_nothing(
    start_driver: StartDriver, tmp_path: Path, undisturbed: Path
) -> None:
    driver = start_driver("ray", pause=1.0)
    driver.wait_for_ranges(2)
    workers = driver.wait_for_workers()
    driver.kill()
    wait_until(lambda: not any(is_running(worker) for worker in workers), seconds=30.0)
    # Ray's own agents look for their node for most of a minute before they end; they compute nothing.
    driver.assert_all_gone(seconds=150.0)
    assert_resumes(tmp_path / "store", undisturbed)


def test_a_second_driver_is_refused_while_the_first_one_lives(
    start_driver: StartDriver, tmp_path: Path, undisturbed: Path
) -> None:
    first = start_driver("serial", pause=1.0)
    first.wait_for_ranges(1)
    with pytest.raises(
        StoreLocked, match=rf"is in use by process {first.process.pid} on .*Wait for it or stop it"
    ):
        extract_here(tmp_path / "store")
    first.kill()
    assert_resumes(tmp_path / "store", undisturbed)
