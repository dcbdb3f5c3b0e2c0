"""A driver process for fault tests: makes a small set of targets with units that take their time.

``python -m tests.support.targets_driver STORE serial|ray PAUSE``; prints ``ready``, then the sealed digest.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

from tasks.catalogue import CATALOGUE
from tasks.engine import open_engine
from tasks.make_targets import run
from tasks.receipt import Receipt
from tasks.target_request import TargetRequest
from tasks.task_spec import TaskSpec
from tests.support.small_targets import make


def slow_run(request: TargetRequest) -> Receipt:
    """Leave the process id beside the store, wait, then do the work."""
    folder = Path(os.environ["VITGEOM_TEST_PIDS"])
    (folder / str(os.getpid())).touch()
    time.sleep(float(os.environ["VITGEOM_TEST_PAUSE"]))
    return run(request)


def slow_catalogue() -> dict[str, TaskSpec]:
    spec = CATALOGUE["make_targets"]
    slow = TaskSpec(spec.name, slow_run, spec.cpus, spec.gpus, spec.memory, spec.shrink)
    return {**CATALOGUE, spec.name: slow}


def main(store: str, kind: str) -> None:
    # A test run in the background of a shell inherits a SIGINT that is ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    options = {"num_cpus": 2, "max_in_flight": 2} if kind == "ray" else {}
    with open_engine(kind, catalogue=slow_catalogue(), **options) as engine:  # type: ignore[arg-type]
        print("ready", flush=True)
        [sealed] = make(Path(store), engine=engine).values()
        print(sealed.digest, sealed.detail["computed_rows"], flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
