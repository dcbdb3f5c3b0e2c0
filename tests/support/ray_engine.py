"""A private Ray for tests: two CPUs, the toy tasks beside the real ones, almost no pauses between tries."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tasks.cluster import connect
from tasks.cluster.engine import RayEngine
from tasks.cluster.folder import RayFolder
from tasks.failure import RetryPolicy
from tests.support.checkout import importable_tests
from tests.support.flaky_extraction import flaky_catalogue
from tests.support.toy_tasks import TOYS


@contextmanager
def own_ray_folder() -> Iterator[None]:
    """Let what Ray leaves on disk (the logs of a worker that died, too) go with the block."""
    with (
        tempfile.TemporaryDirectory(prefix="vt-", dir="/tmp") as folder,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setattr(connect, "RayFolder", lambda: RayFolder(Path(folder)))
        yield


@contextmanager
def two_cpu_engine() -> Iterator[RayEngine]:
    """Open the engine; Ray starts with the first unit."""
    with importable_tests(), own_ray_folder():
        engine = RayEngine(
            num_cpus=2,
            max_in_flight=2,
            catalogue={**flaky_catalogue(), **TOYS},
            policy=RetryPolicy(retries=2, first_pause=0.01),
        )
        try:
            yield engine
        finally:
            engine.close()
