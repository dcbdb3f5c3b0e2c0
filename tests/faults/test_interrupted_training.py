"""Trainings on Ray Train: the same model as in this process, also when a worker is killed, and on two workers."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest

from tasks.cluster.engine import RayEngine
from tasks.metric_request import MetricRequest
from tasks.train_metric import MODEL, TEST, run
from tasks.training_watch import progress_of
from tests.support.ray_engine import two_cpu_engine
from tests.support.small_metric import TRAINING, request_of
from tests.support.waiting import wait_until
from vitgeom.metric import load
from vitgeom.store.uri import Root

# On a busy machine Ray and torch need minutes to start.
pytestmark = [pytest.mark.timeout(1200), pytest.mark.services]


@pytest.fixture(scope="module")
def engine() -> Iterator[RayEngine]:
    with two_cpu_engine() as opened:
        yield opened


def file(request: MetricRequest, name: str) -> bytes:
    return Root(request.store).join(request.path).read_bytes(name)


def train(engine: RayEngine, request: MetricRequest) -> None:
    [receipt] = engine.map("train_metric", [request])
    assert not receipt.cached


def test_one_worker_of_ray_trains_the_same_model_as_this_process(engine: RayEngine, tmp_path: Path) -> None:
    here, ray = request_of(tmp_path / "a", "spn"), request_of(tmp_path / "b", "spn", trainer="ray")
    run(here)
    train(engine, ray)
    assert file(here, MODEL) == file(ray, MODEL)
    assert file(here, TEST) == file(ray, TEST)


def test_two_workers_agree_but_for_rounding(engine: RayEngine, tmp_path: Path) -> None:
    here = request_of(tmp_path / "a", "importance")
    two = request_of(tmp_path / "b", "importance", trainer="ray", workers=2)
    run(here)
    train(engine, two)
    one, other = (
        load(tmp_path / place / request.path / MODEL) for place, request in (("a", here), ("b", two))
    )
    for (name, mine), theirs in zip(one.state_dict().items(), other.state_dict().values(), strict=True):
        assert (mine - theirs).abs().max() <= 1e-3 * max(1.0, float(mine.abs().max())), name


def test_a_killed_worker_costs_no_finished_epoch(engine: RayEngine, tmp_path: Path) -> None:
    training = {**TRAINING, "epochs": 30, "patience": 30}
    undisturbed = request_of(tmp_path / "a", "spn", training=training)
    run(undisturbed)
    request = request_of(tmp_path / "b", "spn", training=training, trainer="ray")
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(train, engine, request)
        wait_until(lambda: epochs_of(request) >= 2 or running.done(), limit=600)
        assert not running.done(), "the training ended before its worker could be killed"
        killed = kill_workers()
        running.result(timeout=900)
    assert killed
    assert file(request, MODEL) == file(undisturbed, MODEL)


def epochs_of(request: MetricRequest) -> int:
    progress = progress_of(request)
    return 0 if progress is None else int(progress["epoch"])


def kill_workers() -> int:
    """Kill the workers of Ray Train on this machine; return how many there were."""
    workers = [process for process in psutil.process_iter() if _is_worker(process)]
    for process in workers:
        process.kill()
    return len(workers)


def _is_worker(process: psutil.Process) -> bool:
    try:
        return any(part.startswith("ray::") and "TrainWorker" in part for part in process.cmdline())
    except psutil.Error:
        return False
