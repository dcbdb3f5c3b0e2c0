"""Small units of work that fail on demand, for tests of engines. Importable in Ray workers."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path
from typing import ClassVar

from tasks.failure import StorageOverflow, WorkerDied, WorkerOutOfMemory
from tasks.footprint import peak_bytes
from tasks.receipt import Receipt
from tasks.request import Request
from tasks.task_spec import TaskSpec
from vitgeom.errors import InvalidInput, StoreError


class ToyRequest(Request):
    """Write ``number`` squared into a file of ``folder``."""

    task: ClassVar[str] = "toy"

    folder: str
    number: int
    trouble: str = ""
    """What happens first: one of ``TROUBLES``, with ``-once`` or ``-always``."""
    seconds: float = 0.0
    size: int = 8
    cpus: float = 1.0
    gpus: float = 0.0
    memory_bytes: int = 0

    @property
    def key(self) -> str:
        return f"toy[{self.number}]"


def kill_worker() -> None:
    """Die as a worker does that the kernel kills; in the test's own process only say so."""
    if "RAY_RAYLET_PID" in os.environ:
        os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(60)
    raise WorkerDied("the worker process died.")


def _store_error() -> None:
    raise StoreError("cannot write s3://bucket: the server does not answer. Try later.")


def _bad_input() -> None:
    raise InvalidInput("number must be even, got an odd one.")


def _bug() -> None:
    raise KeyError("a slip of our own")


def _out_of_memory() -> None:
    raise WorkerOutOfMemory("batch_size does not fit. Use a smaller one.")


def _overflow() -> None:
    raise StorageOverflow("storage='float16' cannot hold it. Use storage='float32'.")


TROUBLES = {
    "death": kill_worker,
    "store": _store_error,
    "input": _bad_input,
    "bug": _bug,
    "memory": _out_of_memory,
    "overflow": _overflow,
}


def run_toy(request: ToyRequest) -> Receipt:
    """Idempotent: a file that is there is not written again."""
    target = Path(request.folder) / f"{request.number}.txt"
    if target.exists():
        return _receipt(request, target, cached=True)
    with (Path(request.folder) / f"tries-{request.number}.log").open("a") as log:
        log.write(f"{os.getpid()} {threading.current_thread().name} size={request.size}\n")
    time.sleep(request.seconds)
    _misbehave(request)
    partial = target.with_suffix(f".{os.getpid()}.partial")
    partial.write_text(str(request.number**2))
    partial.rename(target)
    return _receipt(request, target, cached=False)


def tries(folder: Path, number: int) -> list[str]:
    """One line per time that a unit was computed, not counting cached answers."""
    log = folder / f"tries-{number}.log"
    return log.read_text().splitlines() if log.exists() else []


def _misbehave(request: ToyRequest) -> None:
    if not request.trouble:
        return
    kind, how = request.trouble.split("-")
    seen = Path(request.folder) / f"seen-{request.number}"
    if how == "once" and seen.exists():
        return
    seen.touch()
    TROUBLES[kind]()


def _receipt(request: ToyRequest, target: Path, *, cached: bool) -> Receipt:
    return Receipt(
        task="toy",
        key=request.key,
        uri=str(target),
        digest=target.read_text(),
        seconds=0.0,
        peak_bytes=0 if cached else peak_bytes(),
        cached=cached,
        rows=1,
    )


def shrink_toy(request: ToyRequest) -> ToyRequest:
    return request.model_copy(update={"size": request.size // 2})


TOYS = {
    "toy": TaskSpec(
        name="toy",
        function=run_toy,
        cpus=lambda request: request.cpus,
        gpus=lambda request: request.gpus,
        memory=lambda request: request.memory_bytes,
        shrink=shrink_toy,
    )
}
