"""The real tasks, with an extraction whose every third range fails once. Importable in Ray workers."""

from __future__ import annotations

from pathlib import Path

from tasks.catalogue import CATALOGUE
from tasks.extract_features import run
from tasks.receipt import Receipt
from tasks.request import ExtractRequest
from tasks.task_spec import TaskSpec
from tests.support.toy_tasks import kill_worker

ROWS = 8
"""Rows per range of the small extraction."""


def run_flaky(request: ExtractRequest) -> Receipt:
    """Die after the range was computed but before anybody heard of it: the worst moment."""
    failed = Path(request.store).parent / "failed" / f"{request.split}-{request.start}"
    receipt = run(request)
    if request.start // ROWS % 3 == 1 and not failed.exists():
        failed.parent.mkdir(exist_ok=True)
        failed.touch()
        kill_worker()
    return receipt


def flaky_catalogue() -> dict[str, TaskSpec]:
    spec = CATALOGUE["extract_features"]
    flaky = TaskSpec(spec.name, run_flaky, spec.cpus, spec.gpus, spec.memory, spec.shrink)
    return {**CATALOGUE, spec.name: flaky}
