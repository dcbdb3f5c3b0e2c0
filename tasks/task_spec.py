"""What a task is to an engine: its function, what one unit takes from a machine, and how to ask for less."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

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


def find_task(catalogue: Mapping[str, TaskSpec] | None, name: str) -> TaskSpec:
    """Look a task up by name.

    Args:
        catalogue: Known tasks; None means all of ``tasks.catalogue``.
        name: Wanted task.

    Raises:
        UnknownName: There is no such task; the nearest name is suggested.
    """
    if catalogue is None:
        # Only here: the catalogue imports every task, and with them torch and the store.
        from tasks.catalogue import CATALOGUE

        catalogue = CATALOGUE
    if name not in catalogue:
        raise UnknownName("task", name, catalogue)
    return catalogue[name]
