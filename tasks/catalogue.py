"""Every task, once: its function, the CPUs and GPUs that one unit takes, and its memory in bytes.

The memory formulas are upper estimates for one process that has run one unit; a test measures a small run against them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tasks import extract_features, fit_probes
from tasks.receipt import Receipt
from vitgeom.errors import UnknownName


@dataclass(frozen=True)
class Ask:
    """What one unit takes from a machine while it runs."""

    cpus: float
    gpus: float
    memory: int


def _same(request: Any) -> Any:
    return request


@dataclass(frozen=True)
class TaskSpec:
    """One kind of work.

    Attributes:
        name: What requests and receipts call it.
        function: ``run(request) -> Receipt``: idempotent, opens everything itself, needs no engine.
        cpus: CPUs of one unit, from its request.
        gpus: GPUs of one unit.
        memory: Peak bytes of a process that runs one unit, Python and libraries included.
        shrink: The same unit with less memory, tried after an out-of-memory failure.
    """

    name: str
    function: Callable[[Any], Receipt]
    cpus: Callable[[Any], float]
    gpus: Callable[[Any], float]
    memory: Callable[[Any], int]
    shrink: Callable[[Any], Any] = _same

    def ask(self, request: Any) -> Ask:
        """Return what one unit takes."""
        return Ask(cpus=self.cpus(request), gpus=self.gpus(request), memory=self.memory(request))


def find_task(catalogue: Mapping[str, TaskSpec], name: str) -> TaskSpec:
    """Look a task up by name.

    Args:
        catalogue: Known tasks.
        name: Wanted task.

    Raises:
        UnknownName: There is no such task; the nearest name is suggested.
    """
    if name not in catalogue:
        raise UnknownName("task", name, catalogue)
    return catalogue[name]


def _threads(request: Any) -> float:
    return float(request.threads)


def _no_gpu(request: Any) -> float:
    return 0.0


def _gpu_if_cuda(request: Any) -> float:
    return 1.0 if request.device.startswith("cuda") else 0.0


CATALOGUE: Mapping[str, TaskSpec] = {
    spec.name: spec
    for spec in (
        TaskSpec(
            name="extract_features",
            function=extract_features.run,
            cpus=_threads,
            gpus=_gpu_if_cuda,
            memory=extract_features.memory,
            shrink=extract_features.halve_batch,
        ),
        TaskSpec(
            name="fit_probes",
            function=fit_probes.run,
            cpus=_threads,
            gpus=_no_gpu,
            memory=fit_probes.memory,
        ),
    )
}
