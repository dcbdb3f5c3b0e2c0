"""A private Ray for tests: two CPUs, the toy tasks beside the real ones, almost no pauses between tries."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tasks.catalogue import CATALOGUE
from tasks.cluster.engine import RayEngine
from tasks.failure import RetryPolicy
from tests.support.toy_tasks import TOYS

ROOT = Path(__file__).resolve().parents[2]


@contextmanager
def importable_tests() -> Iterator[None]:
    """Let processes that are started inside the block import ``tests``, whatever their current directory."""
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = str(ROOT) if before is None else f"{ROOT}{os.pathsep}{before}"
    try:
        yield
    finally:
        if before is None:
            del os.environ["PYTHONPATH"]
        else:
            os.environ["PYTHONPATH"] = before


@contextmanager
def two_cpu_engine() -> Iterator[RayEngine]:
    """Open the engine; Ray starts with the first unit."""
    with importable_tests():
        engine = RayEngine(
            num_cpus=2,
            max_in_flight=2,
            catalogue={**CATALOGUE, **TOYS},
            policy=RetryPolicy(retries=2, first_pause=0.01),
        )
        try:
            yield engine
        finally:
            engine.close()
